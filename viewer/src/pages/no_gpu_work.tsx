// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The page of a recording without work of a GPU.

import type { Loaded } from "../app/state";
import type { Result } from "../data/results";
import { NotRecorded, whyNot } from "../parts/states";

export function NoGpuWork(props: { loaded: Loaded<Result>; would: string; title?: string }) {
  const { loaded } = props;
  const skipped = loaded.state === "ready" ? loaded.value.meta.skipped : [];
  const { why, option } = whyNot(skipped, ["cuda"], {
    why:
      loaded.state === "absent"
        ? loaded.reason
        : "The program did no work on a GPU, or no capture saw it. On a machine with an NVIDIA GPU it is recorded without an option.",
    option: "",
  });
  return (
    <NotRecorded
      title={props.title ?? "No GPU work was recorded"}
      why={why}
      option={option}
      would={props.would}
    />
  );
}

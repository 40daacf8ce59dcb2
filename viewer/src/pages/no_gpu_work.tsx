// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The page of a recording without work of a GPU, or without one kind of it.

import { useContext } from "preact/hooks";
import type { Loaded } from "../app/state";
import { PagePart, useResult } from "../app/use_result";
import { plural } from "../base/format";
import { isImported } from "../data/losses";
import type { Overview, Result } from "../data/results";
import { Loading, NotRecorded, whyNot } from "../parts/states";
import { named } from "./overview_words";

interface NoGpuWorkProps {
  readonly loaded: Loaded<Result>;
  /** What the page has no row of: "copies". */
  readonly what: string;
  readonly would: string;
  readonly title?: string;
}

const NO_WORK =
  "The program did no work on a GPU, or no capture saw it. On a machine with an NVIDIA GPU it is recorded without an option.";

/** Returns what a recording with work of a GPU says of a kind that it has none of; null: no work. */
export function lacking(
  overview: Overview,
  what: string,
  isPart: boolean,
): { title: string; why: string } | null {
  const kernels = overview.gpu?.kernel_count ?? 0;
  const copies = overview.gpu?.copy_count ?? 0;
  if (kernels + copies === 0) return null;
  const work = [
    kernels > 0 ? plural(kernels, "kernel", "kernels") : "",
    copies > 0 ? plural(copies, "copy", "copies") : "",
  ].filter((each) => each !== "");
  const title = named(`This ${isPart ? "part" : "recording"} has no ${what}`, overview);
  const held = named(`The GPU ran ${work.join(" and ")}`, overview);
  if (isPart) return { title, why: `${held} in the whole run.` };
  const none = isImported(overview)
    ? "the trace of the other tool holds nothing of this kind"
    : "nothing of this kind was seen while the program was recorded";
  return { title, why: `${held}, but ${none}.` };
}

export function NoGpuWork(props: NoGpuWorkProps) {
  const part = useContext(PagePart);
  return (
    <PagePart.Provider value="">
      <OfWholeRun {...props} isPart={part !== ""} />
    </PagePart.Provider>
  );
}

function OfWholeRun(props: NoGpuWorkProps & { readonly isPart: boolean }) {
  const { loaded, what, would, title = "No GPU work was recorded", isPart } = props;
  const overview = useResult("overview");
  if (loaded.state === "absent") {
    return (
      <NotRecorded title="The result is not there" why={loaded.reason} option="" would={would} />
    );
  }
  if (overview.state === "loading") return <Loading what="the overview" />;
  const whole = overview.state === "ready" ? overview.value : null;
  const none = whole === null ? null : lacking(whole, what, isPart);
  if (whole !== null && none !== null) {
    return <NotRecorded {...none} option="" would={named(would, whole)} />;
  }
  const skipped = loaded.state === "ready" ? loaded.value.meta.skipped : [];
  const { why, option } = whyNot(skipped, ["cuda"], { why: NO_WORK, option: "" });
  return <NotRecorded title={title} why={why} option={option} would={would} />;
}

// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// A choice of one of several things, by their places in a list: buttons, or a list if there are many.

import { Segments } from "./segments";

const MOST_BUTTONS = 6;

export function Choice(props: {
  label: string;
  names: readonly string[];
  value: number;
  onChange: (index: number) => void;
}) {
  const { label, names, value, onChange } = props;
  if (names.length < 2) return null;
  if (names.length <= MOST_BUTTONS) {
    return (
      <Segments
        label={label}
        options={names.map((name, index) => [String(index), name] as const)}
        value={String(value)}
        onChange={(next) => onChange(Number(next))}
      />
    );
  }
  return (
    <select
      class="input"
      aria-label={label}
      value={String(value)}
      onChange={({ currentTarget }) => onChange(Number(currentTarget.value))}
    >
      {names.map((name, index) => (
        <option key={index} value={String(index)}>
          {name}
        </option>
      ))}
    </select>
  );
}

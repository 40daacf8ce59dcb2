// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// A choice of a few words, of which one is pressed.

export function Segments<Key extends string>(props: {
  label: string;
  options: readonly (readonly [Key, string])[];
  value: Key;
  onChange: (key: Key) => void;
}) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset brings a look and a legend of its own.
    <span class="segments" role="group" aria-label={props.label}>
      {props.options.map(([key, words]) => (
        <button
          key={key}
          type="button"
          aria-pressed={key === props.value}
          onClick={() => props.onChange(key)}
        >
          {words}
        </button>
      ))}
    </span>
  );
}

// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The line above a table: filter, chosen columns, copies.

import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Column } from "./columns";
import { toCsv, toTsv, type Value } from "./table_data";

export interface TableBarProps<Row> {
  readonly noun: string;
  readonly amount: string;
  readonly fault: string;
  readonly filterText: string;
  readonly onFilter: (text: string) => void;
  readonly columns: readonly Column<Row>[];
  readonly isShown: (id: string) => boolean;
  readonly onShow: (id: string, isShown: boolean) => void;
  readonly values: () => Value[][];
  readonly extra?: ComponentChildren;
}

/** Copies a text. Browsers refuse the clipboard to some pages, so an old way is tried too. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = document.createElement("textarea");
    area.value = text;
    document.body.append(area);
    area.select();
    const isCopied = document.execCommand("copy");
    area.remove();
    return isCopied;
  }
}

function saveFile(name: string, text: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
  link.download = name;
  link.click();
  // The browser reads it later, if it is busy.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

export function TableBar<Row>(props: TableBarProps<Row>) {
  const [words, setWords] = useState("");
  const copy = async () => {
    setWords((await copyText(toTsv(props.values()))) ? "Copied" : "The browser refused to copy");
    setTimeout(() => setWords(""), 1500);
  };
  return (
    <div class="table-bar">
      <input
        class="input"
        type="search"
        placeholder={`Filter ${props.noun}, /regex/`}
        aria-label={`Filter ${props.noun}`}
        value={props.filterText}
        onInput={(event) => props.onFilter(event.currentTarget.value)}
        data-find
      />
      {props.extra}
      <span class="quiet" aria-live="polite">
        {props.fault === "" ? props.amount : `Not an expression yet: ${props.fault}`}
      </span>
      <span class="spacer" />
      <span class="quiet" aria-live="polite">
        {words}
      </span>
      <ColumnMenu columns={props.columns} isShown={props.isShown} onShow={props.onShow} />
      <button type="button" class="button" onClick={copy}>
        Copy as TSV
      </button>
      <button
        type="button"
        class="button"
        onClick={() => saveFile(`${props.noun.replace(/\W+/g, "-")}.csv`, toCsv(props.values()))}
      >
        CSV
      </button>
    </div>
  );
}

function ColumnMenu<Row>(props: Pick<TableBarProps<Row>, "columns" | "isShown" | "onShow">) {
  const [isOpen, setOpen] = useState(false);
  const anchor = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (!isOpen) return undefined;
    const close = (event: PointerEvent) => {
      if (event.target instanceof Node && !anchor.current?.contains(event.target)) setOpen(false);
    };
    addEventListener("pointerdown", close);
    return () => removeEventListener("pointerdown", close);
  }, [isOpen]);
  const onKey = (event: KeyboardEvent) => {
    if (event.key !== "Escape" || !isOpen) return;
    event.stopPropagation();
    setOpen(false);
    button.current?.focus();
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: Escape closes the menu from any of its boxes.
    <div class="menu-anchor" ref={anchor} onKeyDown={onKey}>
      <button
        type="button"
        class="button"
        ref={button}
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        Columns
      </button>
      {isOpen && (
        <div class="menu">
          {props.columns.map((column) => (
            <label key={column.id}>
              <input
                type="checkbox"
                checked={props.isShown(column.id)}
                onChange={(event) => props.onShow(column.id, event.currentTarget.checked)}
              />
              {column.header === "" ? "bar" : column.header}
            </label>
          ))}
        </div>
      )}
    </div>
  );
}

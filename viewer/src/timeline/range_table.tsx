// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The table of what ran in a range: sorted by a click on a header, moved in with arrows. Only the
// rows that are seen are elements.

import { useMemo, useRef, useState } from "preact/hooks";
import type { RangeRow } from "../trace/api";
import { shown } from "./labels";
import { classVariable } from "./palette";
import { count, fixed, percent } from "./units";

const ROW_PX = 24;
const SPARE_ROWS = 8;

type Key = "name" | "count" | "total" | "mean" | "longest";

const COLUMNS: readonly { readonly key: Key; readonly head: (unit: Unit) => string }[] = [
  { key: "name", head: () => "Name" },
  { key: "count", head: () => "count" },
  { key: "total", head: () => "total, ms" },
  { key: "mean", head: (unit) => `mean, ${unit.name}` },
  { key: "longest", head: (unit) => `longest, ${unit.name}` },
];

interface Unit {
  readonly name: string;
  readonly ns: number;
  readonly decimals: number;
}

/** Returns one unit for a column: the one that its greatest value is at home in. */
export function unitFor(greatest_ns: number): Unit {
  return greatest_ns >= 1e7
    ? { name: "ms", ns: 1e6, decimals: 2 }
    : { name: "µs", ns: 1e3, decimals: 1 };
}

function sortValue(row: RangeRow, key: Key): number | string {
  switch (key) {
    case "name":
      return row.name;
    case "count":
      return row.count;
    case "total":
      return row.total_ns;
    case "mean":
      return row.mean_ns;
    default:
      return row.max_ns;
  }
}

/** Sorts rows by a column; equal ones keep their order by name. */
export function sorted(rows: readonly RangeRow[], key: Key, down: boolean): RangeRow[] {
  const sign = down ? -1 : 1;
  return [...rows].sort((a, b) => {
    const [x, y] = [sortValue(a, key), sortValue(b, key)];
    const order = x < y ? -1 : x > y ? 1 : 0;
    return order * sign || (a.name < b.name ? -1 : a.name > b.name ? 1 : 0);
  });
}

export interface RangeTableProps {
  readonly rows: readonly RangeRow[];
  /** What shares are of, and the words for that. */
  readonly base_ns: number;
  readonly base: string;
  /** Rows have a class that has a colour: they ran on a device. */
  readonly coloured: boolean;
  readonly label: string;
  onPick(name: string): void;
}

/** Shows the rows of a range. */
export function RangeTable({ rows, base_ns, base, coloured, label, onPick }: RangeTableProps) {
  const [order, setOrder] = useState<{ key: Key; down: boolean }>({ key: "total", down: true });
  const [top, setTop] = useState(0);
  const [active, setActive] = useState(0);
  const box = useRef<HTMLDivElement>(null);
  const list = useMemo(() => sorted(rows, order.key, order.down), [rows, order]);
  const greatest = rows.reduce((most, row) => Math.max(most, row.max_ns), 0);
  const longest = rows.reduce((most, row) => Math.max(most, row.total_ns), 0);
  const unit = unitFor(greatest);
  const tall = box.current?.clientHeight ?? 240;
  const first = Math.max(0, Math.floor(top / ROW_PX) - SPARE_ROWS);
  const last = Math.min(list.length, Math.ceil((top + tall) / ROW_PX) + SPARE_ROWS);
  const sort = (key: Key): void => {
    const numbers = key !== "name";
    setOrder(order.key === key ? { key, down: !order.down } : { key, down: numbers });
  };
  const move = (event: KeyboardEvent): void => {
    const step =
      event.key === "ArrowDown" || event.key === "j"
        ? 1
        : event.key === "ArrowUp" || event.key === "k"
          ? -1
          : 0;
    const name = list[active]?.name;
    if (event.key === "Enter" && name !== undefined) onPick(name);
    else if (step === 0) return;
    event.preventDefault();
    event.stopPropagation();
    if (step === 0) return;
    const next = Math.min(Math.max(active + step, 0), list.length - 1);
    setActive(next);
    const element = box.current;
    if (element === null) return;
    const y = next * ROW_PX;
    if (y < element.scrollTop) element.scrollTop = y;
    const low = y + ROW_PX * 2 - element.clientHeight;
    if (low > element.scrollTop) element.scrollTop = low;
  };
  return (
    <div class="tl-table" ref={box} onScroll={(event) => setTop(event.currentTarget.scrollTop)}>
      <table aria-label={label} aria-rowcount={list.length + 1}>
        <colgroup>
          <col />
          <col class="tl-narrow" />
          <col class="tl-wide" />
          <col class="tl-narrow" />
          <col class="tl-narrow tl-bar" />
          <col class="tl-wide tl-far" />
          <col class="tl-wide tl-far" />
        </colgroup>
        <thead>
          <tr>
            {COLUMNS.map(({ key, head }) => (
              <HeadCell
                key={key}
                text={head(unit)}
                name={key === "name"}
                far={key === "mean" || key === "longest"}
                order={order.key === key ? (order.down ? "descending" : "ascending") : undefined}
                share={key === "total" ? base : undefined}
                onSort={() => sort(key)}
              />
            ))}
          </tr>
        </thead>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: rows are moved in with arrows. */}
        <tbody tabIndex={0} onKeyDown={move}>
          {first > 0 && <tr class="tl-gap" style={{ height: `${first * ROW_PX}px` }} />}
          {list.slice(first, last).map((row, i) => (
            <tr
              key={first + i}
              aria-rowindex={first + i + 2}
              class={first + i === active ? "tl-active" : ""}
              onClick={() => {
                setActive(first + i);
                onPick(row.name);
              }}
            >
              <td class="tl-name" title={shown(row.name, 2000)}>
                {coloured && <i class="tl-swatch" style={{ background: classVariable(row.cls) }} />}
                <bdi>{shown(row.name)}</bdi>
              </td>
              <td>{count(row.count)}</td>
              <td class="tl-sum">{fixed(row.total_ns / 1e6, 2)}</td>
              <td>{percent(row.total_ns / Math.max(base_ns, 1))}</td>
              <td class="tl-bar">
                <u style={{ width: `${(row.total_ns / Math.max(longest, 1)) * 100}%` }} />
              </td>
              <td class="tl-far">{fixed(row.mean_ns / unit.ns, unit.decimals)}</td>
              <td class="tl-far">{fixed(row.max_ns / unit.ns, unit.decimals)}</td>
            </tr>
          ))}
          {last < list.length && (
            <tr class="tl-gap" style={{ height: `${(list.length - last) * ROW_PX}px` }} />
          )}
        </tbody>
      </table>
    </div>
  );
}

interface HeadCellProps {
  readonly text: string;
  readonly name: boolean;
  /** A narrow window leaves the column out. */
  readonly far: boolean;
  readonly order: "ascending" | "descending" | undefined;
  /** The column is followed by its share and its bar, which sort by the same value. */
  readonly share: string | undefined;
  onSort(): void;
}

function HeadCell({ text, name, far, order, share, onSort }: HeadCellProps) {
  return (
    <>
      <th scope="col" class={name ? "tl-name" : far ? "tl-far" : ""} aria-sort={order ?? "none"}>
        <button type="button" onClick={onSort}>
          {text}
        </button>
      </th>
      {share !== undefined && (
        <>
          <th scope="col" class="tl-share">
            {share}
          </th>
          <td class="tl-bar" />
        </>
      )}
    </>
  );
}

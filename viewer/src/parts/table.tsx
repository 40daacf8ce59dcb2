// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// A table: sorted by its headers, filtered, with chosen columns, copied as TSV or CSV. Only the rows
// in view are in the page, so a million rows scroll as ten do. Arrow keys or j and k move, Enter opens.

import type { ComponentChildren } from "preact";
import { useMemo, useRef, useState } from "preact/hooks";
import { inItsWords } from "../app/state";
import { count, NOT_MEASURED, plural } from "../base/format";
import { type Column, isNothing } from "./columns";
import { TableBar } from "./table_bar";
import { makeFilter, sortRows, type Value } from "./table_data";
import { useVirtualRows } from "./virtual_rows";

/** Rows that stand below others: each is followed by those below it. */
export interface Tree<Row> {
  readonly depth: (row: Row) => number;
  /** Undefined: nothing stands below the row. */
  readonly isOpen: (row: Row) => boolean | undefined;
  readonly onOpen: (row: Row, isOpen: boolean) => void;
  /** No row above is closed. Tables that are sorted or filtered, and copies, have all rows. */
  readonly isShown: (row: Row) => boolean;
}

export interface TableProps<Row> {
  readonly rows: readonly Row[];
  readonly columns: readonly Column<Row>[];
  /** One row and several, for people: ["kernel", "kernels"]. */
  readonly noun: readonly [string, string];
  /** The column to sort by at first: numbers the greatest first, texts from A to Z. */
  readonly sort: string;
  /** Height of the scrolled part, as CSS. Absent: all rows are in the page. */
  readonly height?: string;
  /** A table beside something else: no filter, no lines between rows. */
  readonly isSide?: boolean;
  readonly initialFilter?: string;
  /** Controls beside the filter. */
  readonly extra?: ComponentChildren;
  readonly onPick?: (row: Row) => void;
  readonly picked?: Row | null;
  /** The rows are a tree, in the order in which they come, until somebody sorts them. */
  readonly tree?: Tree<Row>;
}

/** Rows from which on only those in view are in the page. */
const VIRTUAL_FROM = 500;

function searchText<Row>(row: Row, columns: readonly Column<Row>[]): string {
  let text = "";
  for (const column of columns) {
    if (column.isSearched !== true) continue;
    text += `${column.value(row) ?? ""}\n${column.title?.(row) ?? ""}\n`;
  }
  return text;
}

interface Sorting {
  readonly id: string;
  readonly isDescending: boolean;
}

/** Returns the header of a column with its unit. */
function headerOf<Row>({ header, unit }: Column<Row>): string {
  return unit === undefined ? header : `${header}, ${unit}`;
}

/** Returns the headers as a table shows them: a unit stands until another one begins. */
function shownHeaders<Row>(columns: readonly Column<Row>[]): string[] {
  let last: string | undefined;
  return columns.map((column) => {
    const isSame = column.unit === last;
    last = column.unit ?? last;
    return isSame ? column.header : headerOf(column);
  });
}

/** Returns whether a column is first sorted with its greatest value on top. */
function isGreatestFirst<Row>(column: Column<Row> | undefined): boolean {
  return column?.isNumber === true || column?.isBar === true;
}

export function Table<Row>(props: TableProps<Row>) {
  const { rows, columns, noun, tree } = props;
  const [filterText, setFilterText] = useState(props.initialFilter ?? "");
  const [sorting, setSorting] = useState<Sorting>(() => {
    const first = columns.find((column) => column.id === props.sort);
    return { id: props.sort, isDescending: isGreatestFirst(first) };
  });
  const [visibility, setVisibility] = useState<Readonly<Record<string, boolean>>>({});
  const [place, setPlace] = useState(0);
  const scroller = useRef<HTMLDivElement>(null);
  const body = useRef<HTMLTableSectionElement>(null);

  const allVisibility = useMemo(() => {
    const state: Record<string, boolean> = {};
    for (const column of columns) {
      // A column of which nothing was measured is offered, but takes no room at first.
      const isEmpty =
        column.isNumber === true &&
        rows.length > 0 &&
        rows.every((row) => column.value(row) === null || column.value(row) === NOT_MEASURED);
      state[column.id] = visibility[column.id] ?? !(column.isHidden === true || isEmpty);
    }
    return state;
  }, [rows, columns, visibility]);
  const filter = useMemo(() => makeFilter(filterText), [filterText]);
  const kept = useMemo(
    () => (filterText === "" ? rows : rows.filter((row) => filter.test(searchText(row, columns)))),
    [rows, columns, filter, filterText],
  );
  const sorted = useMemo(() => {
    const column = columns.find(({ id }) => id === sorting.id);
    return column === undefined ? kept : sortRows(kept, column.value, sorting.isDescending);
  }, [kept, columns, sorting]);
  const isTree = tree !== undefined && filterText === "" && sorting.id === "";
  const listed = isTree ? sorted.filter(tree.isShown) : sorted;
  const shown = columns.filter((column) => allVisibility[column.id] === true);
  const isVirtual = props.height !== undefined && listed.length >= VIRTUAL_FROM;
  const view = useVirtualRows(listed.length, scroller, isVirtual);

  const sortBy = (column: Column<Row>) => {
    const isSame = sorting.id === column.id;
    const isDescending = isSame ? !sorting.isDescending : isGreatestFirst(column);
    setSorting({ id: column.id, isDescending });
  };
  const goTo = (next: number) => {
    const row = Math.max(0, Math.min(listed.length - 1, next));
    setPlace(row);
    view.show(row);
    requestAnimationFrame(() => {
      body.current?.querySelector<HTMLElement>(`tr[data-row="${row}"]`)?.focus();
    });
  };
  const pick = (row: Row) => {
    const isOpen = tree?.isOpen(row);
    if (isTree && isOpen !== undefined) tree.onOpen(row, !isOpen);
    props.onPick?.(row);
  };
  const onKey = (event: KeyboardEvent) => {
    const target = event.target instanceof Element ? event.target.closest("tr[data-row]") : null;
    if (target === null || event.ctrlKey || event.metaKey || event.altKey) return;
    const row = Number(target.getAttribute("data-row"));
    const steps: Record<string, number> = {
      ArrowDown: row + 1,
      j: row + 1,
      ArrowUp: row - 1,
      k: row - 1,
      PageDown: row + 20,
      PageUp: row - 20,
      Home: 0,
      End: listed.length - 1,
    };
    const next = steps[event.key];
    const opens = { ArrowRight: true, ArrowLeft: false }[event.key];
    const at = listed[row];
    if (isTree && opens !== undefined && at !== undefined) {
      event.preventDefault();
      if (tree.isOpen(at) === !opens) tree.onOpen(at, opens);
    } else if (next !== undefined) {
      event.preventDefault();
      goTo(next);
    } else if (event.key === "Enter") {
      if (at !== undefined) pick(at);
    }
  };
  const values = (): Value[][] => {
    // A bar is the number before it once more. Names are copied whole, too.
    const copied = shown.filter((column) => column.isBar !== true);
    const short = copied.find((column) => column.title !== undefined && column.isNumber !== true);
    const whole = short?.title;
    const isCut =
      short !== undefined &&
      whole !== undefined &&
      sorted.some((row) => whole(row) !== (short.value(row) ?? ""));
    const extra = (row: Row): Value[] =>
      isCut && whole !== undefined ? [cut(whole(row), MOST_COPIED)] : [];
    return [
      [...copied.map(headerOf), ...(isCut ? ["whole name"] : [])],
      ...sorted.map((row) => [
        ...copied.map((column) => (column.copied ?? column.value)(row)),
        ...extra(row),
      ]),
    ];
  };
  const amount =
    kept.length === rows.length
      ? plural(rows.length, noun[0], noun[1])
      : `${count(kept.length)} of ${plural(rows.length, noun[0], noun[1])}`;

  const headers = shownHeaders(shown);
  const first = view.first;
  const inView = listed.slice(first, view.last);
  const tabRow = place >= first && place < view.last ? place : first;
  return (
    <div>
      {props.isSide !== true && (
        <TableBar
          noun={noun[1]}
          amount={amount}
          fault={filter.fault}
          filterText={filterText}
          onFilter={setFilterText}
          columns={columns}
          isShown={(id) => allVisibility[id] === true}
          onShow={(id, isShown) => setVisibility({ ...visibility, [id]: isShown })}
          values={values}
          extra={props.extra}
        />
      )}
      <div
        class="table-scroll"
        ref={scroller}
        style={props.height === undefined ? undefined : { maxHeight: props.height }}
      >
        <table
          class={props.isSide ? "side" : isVirtual ? "virtual" : undefined}
          role={isTree ? "treegrid" : "grid"}
          aria-rowcount={listed.length + 1}
          aria-label={noun[1]}
        >
          <thead>
            <tr>
              {shown.map((column, index) => (
                <HeaderCell
                  key={column.id}
                  column={column}
                  header={headers[index] ?? ""}
                  sorting={sorting}
                  onSort={() => sortBy(column)}
                />
              ))}
            </tr>
          </thead>
          <tbody ref={body} onKeyDown={onKey}>
            <Gap height={view.above} span={shown.length} />
            {inView.map((row, index) => {
              const number = first + index;
              return (
                <tr
                  key={number}
                  data-row={number}
                  tabIndex={number === tabRow ? 0 : -1}
                  aria-rowindex={number + 2}
                  aria-level={isTree ? tree.depth(row) + 1 : undefined}
                  aria-expanded={isTree ? tree.isOpen(row) : undefined}
                  aria-selected={props.picked === undefined ? undefined : row === props.picked}
                  onClick={() => {
                    setPlace(number);
                    pick(row);
                  }}
                >
                  {shown.map((column) => (
                    <Cell key={column.id} column={column} row={row} />
                  ))}
                </tr>
              );
            })}
            <Gap height={view.below} span={shown.length} />
            {sorted.length === 0 && (
              <tr>
                <td colSpan={shown.length} class="quiet">
                  {filterText === "" ? `There are no ${noun[1]}. ` : `No ${noun[1]} match. `}
                  {filterText !== "" && (
                    <button type="button" class="link" onClick={() => setFilterText("")}>
                      Clear the filter
                    </button>
                  )}
                </td>
              </tr>
            )}
          </tbody>
        </table>
      </div>
    </div>
  );
}

/** Holds the place of rows that are not in the page. */
function Gap({ height, span }: { height: number; span: number }) {
  if (height <= 0) return null;
  return (
    <tr class="gap">
      <td colSpan={span} style={{ height: `${height}px`, padding: 0, border: 0 }} />
    </tr>
  );
}

/** Returns the class of a header, with the widths at which its column is left out. */
function leavesClass<Row>(column: Column<Row>, others: string): string | undefined {
  const leaves = column.leaves === undefined ? "" : `hide${column.leaves}`;
  return [others, leaves].filter(Boolean).join(" ") || undefined;
}

function HeaderCell<Row>(props: {
  column: Column<Row>;
  header: string;
  sorting: Sorting;
  onSort: () => void;
}) {
  const { column, sorting } = props;
  const isSorted = sorting.id === column.id;
  if (column.header === "") {
    return (
      <th
        scope="col"
        class={leavesClass(column, "plain")}
        style={column.width === undefined ? undefined : { width: column.width }}
      >
        <span class="visually-hidden">as a bar</span>
      </th>
    );
  }
  return (
    <th
      scope="col"
      class={leavesClass(column, column.isNumber ? "number" : "")}
      style={column.width === undefined ? undefined : { width: column.width }}
      title={column.tip}
      aria-sort={isSorted ? (sorting.isDescending ? "descending" : "ascending") : undefined}
    >
      <button type="button" onClick={props.onSort}>
        {inItsWords(props.header)}
      </button>
    </th>
  );
}

/** Names may be a megabyte long: cells show the beginning, copies have all. */
const MOST_SHOWN = 300;
const MOST_TITLE = 2000;
/** A spreadsheet takes no longer text in a cell. */
const MOST_COPIED = 32_000;

export function cut(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}

function Cell<Row>({ column, row }: { column: Column<Row>; row: Row }) {
  const whole = column.cell === undefined ? column.value(row) : column.cell(row);
  const shown = typeof whole === "string" ? cut(whole, MOST_SHOWN) : whole;
  const title = column.title?.(row);
  const classes = [
    column.isNumber && "number",
    column.isBar && "bar",
    column.width !== undefined && !column.isBar && "tight",
    isNothing(shown) && "nothing",
    column.isSearched === true && "name",
    column.leaves !== undefined && `hide${column.leaves}`,
  ];
  return (
    <td
      class={classes.filter(Boolean).join(" ") || undefined}
      title={title && cut(title, MOST_TITLE)}
    >
      {shown}
    </td>
  );
}

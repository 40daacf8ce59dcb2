// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The frame around every page: rail, top bar, keys.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { plain } from "../base/plain";
import type { Source } from "../data/source";
import { Card, hideCard } from "../parts/card";
import { Segments } from "../parts/segments";
import { Broken, Remark } from "../parts/states";
import { Narrowed, OfWhat } from "./narrowed";
import { entriesOf, type Page } from "./pages";
import { PageList, Rail, type RailProps, Tabs, useBadges, withData } from "./rail";
import { allTime, isWhole, partOf, resultsOf, scope, scopeOfResults, WHOLE } from "./scope";
import { ScopeBar } from "./scope_bar";
import { gonePage, hashOf, route, setTheme, type Theme, theme, visits } from "./state";
import { PagePart, useResult } from "./use_result";

const KEYS: readonly (readonly [string, string])[] = [
  ["1 to 9", "pages, in the order of the rail"],
  ["/", "find or filter"],
  ["↑ ↓ or j k", "rows of a table"],
  ["Enter", "open a row"],
  ["T", "theme"],
  ["?", "these keys"],
  ["Esc", "close"],
];

/** Returns whether a key belongs to a field that takes text. */
function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || /^(input|textarea|select)$/i.test(target.tagName))
  );
}

function nextTheme(now: Theme): Theme {
  return now === "auto" ? "light" : now === "light" ? "dark" : "auto";
}

export function Shell({ source }: { source: Source }) {
  const [areKeysOpen, setKeysOpen] = useState(false);
  const main = useRef<HTMLElement>(null);
  const entries = useMemo(() => entriesOf(source.manifest), [source]);
  const pages = useMemo(() => entries.flatMap((entry) => entry.pages), [entries]);
  const badges = useBadges(entries);
  const shown = entries.filter((entry) => !entry.isFoot && withData(entry, badges).length > 0);
  const links = useRef<string[]>([]);
  links.current = shown.map((entry) => withData(entry, badges)[0]?.id ?? "");
  const page =
    pages.find((each) => each.id === route.value.page) ??
    (route.value.page === "overview" ? pages[0] : undefined);

  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key === "Escape") {
        setKeysOpen(false);
        hideCard();
        if (isTyping(event.target)) (event.target as HTMLElement).blur();
        return;
      }
      if (isTyping(event.target)) return;
      const wanted = /^[1-9]$/.test(event.key) ? links.current[Number(event.key) - 1] : undefined;
      if (wanted !== undefined) {
        location.hash = hashOf(wanted);
        main.current?.focus();
      } else if (event.key === "/") {
        main.current?.querySelector<HTMLElement>("[data-find]")?.focus();
      } else if (event.key === "t" || event.key === "T") {
        setTheme(nextTheme(theme.value));
      } else if (event.key === "?") {
        setKeysOpen((isOpen) => !isOpen);
      } else {
        return;
      }
      event.preventDefault();
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, []);

  const id = page?.id;
  const rail: RailProps = { entries, badges, current: id ?? "" };
  useEffect(() => {
    hideCard();
    main.current?.scrollTo(0, 0);
    document.title = plain(`${page?.title ?? "gpuprof"} · ${source.manifest.title}`);
  }, [id]);

  return (
    <>
      <button type="button" class="skip" onClick={() => main.current?.focus()}>
        Skip to content
      </button>
      <Rail {...rail} />
      <TopBar
        source={source}
        rail={rail}
        title={page?.title ?? ""}
        onKeys={() => setKeysOpen(!areKeysOpen)}
        areKeysOpen={areKeysOpen}
      />
      <main id="main" tabIndex={-1} ref={main} data-page={id}>
        <Tabs {...rail} />
        {source.manifest.left_out !== undefined && id === "timeline" && (
          <div class="page" style={{ paddingBottom: 0 }}>
            <Remark>{source.manifest.left_out}</Remark>
          </div>
        )}
        {page === undefined ? (
          <NoPage id={route.value.page} />
        ) : (
          <Shown page={page} source={source} />
        )}
      </main>
      {areKeysOpen && (
        <div class="keys" role="status">
          {KEYS.map(([key, words]) => (
            <div key={key}>
              <kbd>{key}</kbd>
              <span>{words}</span>
            </div>
          ))}
        </div>
      )}
      <Card />
    </>
  );
}

/** Shows a page: of the whole run, or of the scope. */
function Shown({ page, source }: { page: Page; source: Source }) {
  const key = page.followsHash ? page.id : `${page.id} ${visits.value}`;
  if (gonePage.value === page.id) return <NotThere />;
  if (isWhole(scope.value) || page.id === "timeline")
    return <page.component source={source} key={key} />;
  const { narrows, ofRange: OfRange } = page;
  const wanted =
    page.isWhole === true ? WHOLE : page.isOfAllTime ? allTime(scope.value) : scope.value;
  const shown = scopeOfResults(source, wanted);
  const isExact = partOf(shown) === partOf(wanted);
  const otherwise = (
    <PagePart.Provider value={resultsOf(shown)}>
      <OfWhat shown={shown} />
      <page.component source={source} key={`${key} ${partOf(shown)}`} />
    </PagePart.Provider>
  );
  // Results have what began in a range. Events tell what was live before, and what ran on into it.
  const { range, step } = page.isLive ? scope.value : wanted;
  const wantsEvents = page.isLive || (page.isCut && step === null);
  if (isExact && (range === null || !wantsEvents)) return otherwise;
  if (narrows !== undefined) {
    return (
      <Narrowed source={source} title={page.title} {...narrows} otherwise={otherwise} key={key} />
    );
  }
  if (OfRange === undefined) return otherwise;
  return (
    <PagePart.Provider value={resultsOf(shown)}>
      <OfRange source={source} otherwise={otherwise} key={key} />
    </PagePart.Provider>
  );
}

function NotThere() {
  return (
    <div class="page">
      <Broken title="The recording is not there any more">
        It was removed or moved since this page was opened. What was seen before is still shown.
      </Broken>
    </div>
  );
}

function NoPage({ id }: { id: string }) {
  return (
    <div class="page">
      <div class="empty">
        <h1>There is no page of this name</h1>
        <p>The link asks for “{id.slice(0, 80)}”.</p>
        <p>
          <a href="#overview">Go to the overview</a>
        </p>
      </div>
    </div>
  );
}

/** Returns whether an address leads to a folder above the page, and nowhere else. */
function isAbove(address: string | undefined): address is string {
  return address !== undefined && /^(\.\.\/)+$/.test(address);
}

function TopBar(props: {
  source: Source;
  rail: RailProps;
  title: string;
  onKeys: () => void;
  areKeysOpen: boolean;
}) {
  const overview = useResult("overview");
  const meta = overview.state === "ready" ? overview.value.meta : null;
  return (
    <header class="top">
      {props.rail.current !== "overview" && <h1 class="visually-hidden">{props.title}</h1>}
      <PageList {...props.rail} />
      {isAbove(props.source.manifest.folder) && (
        <a href={props.source.manifest.folder}>All captures</a>
      )}
      <span class="title" title={props.source.manifest.title}>
        {props.source.manifest.title}
      </span>
      <ScopeBar
        source={props.source}
        window_ns={meta === null ? null : meta.window_end_ns - meta.window_start_ns}
      />
      <span class="spacer" />
      {/* The trace viewer has keys of its own, and shows them itself. */}
      {props.rail.current !== "timeline" && (
        <button
          type="button"
          class="button no-phone"
          aria-expanded={props.areKeysOpen}
          onClick={props.onKeys}
        >
          Keys
        </button>
      )}
      <Segments
        label="Theme"
        options={[
          ["auto", "Auto"],
          ["light", "Light"],
          ["dark", "Dark"],
        ]}
        value={theme.value}
        onChange={setTheme}
      />
    </header>
  );
}

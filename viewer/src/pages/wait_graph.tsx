// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Threads that waited on the left, threads that held on the right, a line for each pair.

import { duration } from "../base/format";
import type { LockEdge } from "../data/results";

const MOST = 12;
const ROW = 24;
const WIDTH = 720;
const SIDE = 220;

interface Pair {
  readonly waiter: string;
  readonly holder: string;
  total_ns: number;
}

function pairsOf(edges: readonly LockEdge[]): Pair[] {
  const pairs = new Map<string, Pair>();
  for (const edge of edges) {
    const waiter = `${edge.waiter} ${edge.waiter_tid}`;
    const holder = `${edge.holder} ${edge.holder_tid}`;
    const key = `${waiter}\n${holder}`;
    const pair = pairs.get(key) ?? { waiter, holder, total_ns: 0 };
    pair.total_ns += edge.total_ns;
    pairs.set(key, pair);
  }
  return [...pairs.values()].sort((a, b) => b.total_ns - a.total_ns).slice(0, MOST);
}

function cut(text: string): string {
  return text.length > 34 ? `${text.slice(0, 33)}…` : text;
}

export function WaitGraph({ edges }: { edges: readonly LockEdge[] }) {
  const pairs = pairsOf(edges);
  const waiters = [...new Set(pairs.map((pair) => pair.waiter))];
  const holders = [...new Set(pairs.map((pair) => pair.holder))];
  const height = Math.max(waiters.length, holders.length) * ROW + 8;
  const longest = pairs[0]?.total_ns ?? 1;
  const y = (list: readonly string[], name: string) => list.indexOf(name) * ROW + 16;
  const words = pairs
    .map((pair) => `${pair.waiter} waited ${duration(pair.total_ns)} for ${pair.holder}`)
    .join("; ");
  return (
    <svg
      width={WIDTH}
      height={height}
      viewBox={`0 0 ${WIDTH} ${height}`}
      role="img"
      aria-label={words}
      style={{ maxWidth: "100%", font: "11px var(--sans)" }}
    >
      {pairs.map((pair) => {
        const from = y(waiters, pair.waiter);
        const to = y(holders, pair.holder);
        return (
          <path
            key={`${pair.waiter} ${pair.holder}`}
            d={`M${SIDE} ${from} C${SIDE + 120} ${from} ${WIDTH - SIDE - 120} ${to} ${WIDTH - SIDE} ${to}`}
            fill="none"
            stroke="var(--d_lock)"
            stroke-width={Math.max(1, (pair.total_ns / longest) * 10)}
            stroke-opacity="0.7"
          />
        );
      })}
      {waiters.map((name) => (
        <text key={name} x={SIDE - 8} y={y(waiters, name) + 4} text-anchor="end" fill="var(--text)">
          {cut(name)}
        </text>
      ))}
      {holders.map((name) => (
        <text key={name} x={WIDTH - SIDE + 8} y={y(holders, name) + 4} fill="var(--text)">
          {cut(name)}
        </text>
      ))}
    </svg>
  );
}

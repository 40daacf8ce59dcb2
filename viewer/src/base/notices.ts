// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Licences of what the page contains of others. The build puts them into the page as a comment (notices.ts).

/** The first words of the comment. */
export const NOTICES_TITLE = "This page contains the work of others, under these licences:";

/** Returns the licences of the page; empty: it was not built whole. */
export function noticesIn(page: Document): string {
  for (const node of page.head.childNodes) {
    const text = node.nodeType === Node.COMMENT_NODE ? (node.nodeValue ?? "").trim() : "";
    if (text.startsWith(NOTICES_TITLE)) return text;
  }
  return "";
}

// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The door through which all text comes into the page: no part needs to make names harmless itself.

import { options, type VNode } from "preact";
import { plain } from "../base/plain";

/** Attributes that people see or hear. */
const SPOKEN = ["title", "aria-label", "alt", "placeholder"];

/** Makes each text harmless that is put into the page from now on. */
export function showTextsPlainly(): void {
  const next = options.vnode;
  options.vnode = (vnode: VNode) => {
    // A text is a node without a type, and is its own properties.
    const node = vnode as { type: unknown; props: unknown };
    if (node.type === null && typeof node.props === "string") {
      node.props = plain(node.props);
    } else if (typeof node.type === "string") {
      const props = node.props as Record<string, unknown>;
      for (const key of SPOKEN) {
        const value = props[key];
        if (typeof value === "string") props[key] = plain(value);
      }
    }
    next?.(vnode);
  };
}

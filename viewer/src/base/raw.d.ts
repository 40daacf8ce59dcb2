// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// A file as text, as Vite and Vitest give it.
declare module "*?raw" {
  const text: string;
  export default text;
}

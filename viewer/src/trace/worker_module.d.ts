// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Vite makes a worker of such an import, with its code inside the page.

declare module "*?worker&inline" {
  const Made: new () => Worker;
  export default Made;
}

// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The worker that has the trace. It begins with nothing: the page sends it a source.

import { type Port, serve, type ToPage } from "./protocol";

serve(globalThis as unknown as Port<ToPage>);

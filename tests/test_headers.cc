// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The program whose precompiled headers all tests reuse. It does nothing.

int main() { return 0; }

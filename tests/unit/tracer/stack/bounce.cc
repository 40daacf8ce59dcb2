// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// A frame in a library of its own. Built as a stand-in for the injected object, and as two plugins
// whose code is the same in place but has frames of different size.

#ifndef STACK_TEST_FRAME
#define STACK_TEST_FRAME 16
#endif

extern "C" [[gnu::visibility("default"), gnu::noinline]] int Bounce(void (*function)(void*),
                                                                    void* argument) {
  volatile char space[STACK_TEST_FRAME];
  space[0] = 1;
  function(argument);
  return space[0];
}

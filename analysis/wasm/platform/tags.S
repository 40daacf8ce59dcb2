/* SPDX-FileCopyrightText: gpuprof contributors
   SPDX-License-Identifier: Apache-2.0

   The tag of longjmp(), which the compiler expects of a C library. */

.globl __c_longjmp
.tagtype __c_longjmp i32
__c_longjmp:

# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0
#
# Copies the libraries that `command` needs into `folder`, without those of the C library, which each machine has.

file(GET_RUNTIME_DEPENDENCIES EXECUTABLES "${command}" RESOLVED_DEPENDENCIES_VAR libraries
     POST_EXCLUDE_REGEXES "/(ld-linux[^/]*|libc|libm|libdl|libpthread|librt)\\.so[^/]*$")
foreach(library IN LISTS libraries)
  file(COPY "${library}" DESTINATION "${folder}" FOLLOW_SYMLINK_CHAIN)
endforeach()

# Targets of this project: one set of flags, warnings as errors, one
# precompiled header for everything that includes MLIR.

# Flags and include paths that every target of the project shares.
add_library(colrow_flags INTERFACE)
target_include_directories(colrow_flags INTERFACE
  ${CMAKE_SOURCE_DIR}/include ${CMAKE_BINARY_DIR}/include)
target_include_directories(colrow_flags SYSTEM INTERFACE
  ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
target_compile_options(colrow_flags INTERFACE
  -Wall -Wextra -Werror -Wno-unused-parameter -fno-exceptions
  -ffunction-sections -fdata-sections)
if(COLROW_SANITIZE)
  target_compile_options(colrow_flags INTERFACE
    -fsanitize=address,undefined -fno-sanitize=vptr -fno-sanitize-recover=undefined
    -fno-omit-frame-pointer)
  target_link_options(colrow_flags INTERFACE -fsanitize=address,undefined)
endif()

# The precompiled header of all code that includes MLIR.
file(WRITE ${CMAKE_BINARY_DIR}/pch.cpp "")
add_library(colrow_pch STATIC ${CMAKE_BINARY_DIR}/pch.cpp)
target_link_libraries(colrow_pch PRIVATE colrow_flags)
target_precompile_headers(colrow_pch PRIVATE
  ${CMAKE_SOURCE_DIR}/cmake/MLIRHeaders.h)

# colrow_library(NAME sources... [MLIR] [LINK libraries...])
#   A static library. MLIR: its sources include MLIR, so they share the
#   precompiled header; the executable that links it links MLIR once.
function(colrow_library name)
  cmake_parse_arguments(ARG "MLIR" "" "LINK;DEPENDS" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PUBLIC colrow_flags ${ARG_LINK})
  if(ARG_MLIR)
    target_precompile_headers(${name} REUSE_FROM colrow_pch)
  endif()
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
endfunction()

# colrow_tablegen(FOLDER NAME arguments...)
#   What tblgen makes of ${LLVM_TARGET_DEFINITIONS}, where <colrow/FOLDER/NAME>
#   finds it; appended to ${generated}.
function(colrow_tablegen folder name)
  mlir_tablegen(${name} ${ARGN})
  set(made ${CMAKE_BINARY_DIR}/include/colrow/${folder}/${name})
  add_custom_command(OUTPUT ${made}
    COMMAND ${CMAKE_COMMAND} -E copy_if_different
            ${CMAKE_CURRENT_BINARY_DIR}/${name} ${made}
    DEPENDS ${CMAKE_CURRENT_BINARY_DIR}/${name})
  set(generated ${generated} ${made} PARENT_SCOPE)
  set(TABLEGEN_OUTPUT ${TABLEGEN_OUTPUT} PARENT_SCOPE)
endfunction()

# colrow_tool(NAME sources... [MLIR] [LINK libraries...])
#   An executable. With MLIR it links the shared MLIR and LLVM, without it the
#   static LLVMSupport: never both, since each registers LLVM's options.
function(colrow_tool name)
  cmake_parse_arguments(ARG "MLIR" "" "LINK" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE colrow_flags ${ARG_LINK})
  if(ARG_MLIR)
    target_precompile_headers(${name} REUSE_FROM colrow_pch)
    target_link_libraries(${name} PRIVATE MLIR LLVM)
  else()
    # LLVMSupport asks for libz3, libz and libzstd, and little of it needs them.
    target_link_libraries(${name} PRIVATE LLVMSupport)
    target_link_options(${name} PRIVATE -Wl,--as-needed)
  endif()
endfunction()

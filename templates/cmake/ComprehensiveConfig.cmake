# The CMake package of comprehensive, which is in its wheel:
#
#   cmake -S . -B build -DComprehensive_DIR="$(comprehensive config --cmake-dir)"
#
#   find_package(Comprehensive REQUIRED)
#   comprehensive_add_library(matmul SOURCE matmul.mf)
#   target_link_libraries(app PRIVATE matmul)
#
# comprehensive_add_library(<target> SOURCE <file.mf> [EMBED <arch>...] [OPTIONS <option>...]
#                           [OUTPUT_DIRECTORY <directory>])
#
# runs `comprehensive gen` whenever the program, what it includes or a template has changed, and makes <target>:
# - with EMBED (sm_80, sm_90, ptx, ...) a static library of <stem>_embedded.c, which a C compiler builds; it needs
#   CUDAToolkit for cudart;
# - else, where the project has enabled the language CUDA, a static library of <stem>.cu;
# - else an interface library: the header alone, whose selection is C99.
# Who links <target> finds <stem>.h. Outputs that do not change are not touched, so that what includes an unchanged header
# is not compiled again. OPTIONS are those of `gen`, as in `OPTIONS --registers estimate -D P_occupancy=1/2`.
# Needs CMake 3.20 and a generator for Make or Ninja.

if(CMAKE_VERSION VERSION_LESS 3.20)
  set(Comprehensive_FOUND FALSE)
  set(Comprehensive_NOT_FOUND_MESSAGE "the CMake package of comprehensive needs CMake 3.20 or newer")
  return()
endif()

find_program(COMPREHENSIVE_EXECUTABLE comprehensive DOC "The command comprehensive, which generates headers and kernels")
if(NOT COMPREHENSIVE_EXECUTABLE)
  set(Comprehensive_FOUND FALSE)
  set(Comprehensive_NOT_FOUND_MESSAGE
      "the command `comprehensive` is not on the PATH; install the wheel, or give -DCOMPREHENSIVE_EXECUTABLE=<path>")
  return()
endif()

function(comprehensive_add_library target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "SOURCE;OUTPUT_DIRECTORY" "EMBED;OPTIONS")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "comprehensive_add_library(${target}): not understood: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT arg_SOURCE)
    message(FATAL_ERROR "comprehensive_add_library(${target}): name the program, as in SOURCE ${target}.mf")
  endif()

  get_filename_component(source "${arg_SOURCE}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_SOURCE_DIR}")
  get_filename_component(stem "${source}" NAME_WE)
  if(arg_OUTPUT_DIRECTORY)
    get_filename_component(out "${arg_OUTPUT_DIRECTORY}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_BINARY_DIR}")
  else()
    set(out "${CMAKE_CURRENT_BINARY_DIR}/${target}.comprehensive")
  endif()
  set(header "${out}/${stem}.h")
  set(kernels "${out}/${stem}.cu")
  set(stamp "${out}/${stem}.stamp")
  set(depfile "${out}/${stem}.d")
  set(options ${arg_OPTIONS})
  set(byproducts "${header}" "${kernels}")
  set(compiled "")
  if(arg_EMBED)
    list(JOIN arg_EMBED "," archs)
    list(APPEND options --embed "${archs}")
    set(compiled "${out}/${stem}_embedded.c")
    list(APPEND byproducts "${compiled}")
  elseif(CMAKE_CUDA_COMPILER)
    set(compiled "${kernels}")
  endif()

  # The stamp is the output: it is touched in any case, and the files that others depend on only where they change.
  add_custom_command(
    OUTPUT "${stamp}"
    BYPRODUCTS ${byproducts}
    COMMAND "${COMPREHENSIVE_EXECUTABLE}" gen "${source}" -o "${out}" --stamp "${stamp}" -MF "${depfile}" ${options}
    DEPENDS "${source}"
    DEPFILE "${depfile}"
    COMMENT "Generating ${stem}.h and its kernels from ${arg_SOURCE}"
    VERBATIM)
  add_custom_target(${target}_generated DEPENDS "${stamp}")

  if(compiled)
    set_source_files_properties("${compiled}" PROPERTIES GENERATED TRUE)
    add_library(${target} STATIC "${compiled}")
    target_include_directories(${target} PUBLIC "${out}")
    if(arg_EMBED)
      find_package(CUDAToolkit REQUIRED)
      target_link_libraries(${target} PUBLIC CUDA::cudart)
    endif()
  else()
    add_library(${target} INTERFACE)
    target_include_directories(${target} INTERFACE "${out}")
  endif()
  add_dependencies(${target} ${target}_generated)
endfunction()

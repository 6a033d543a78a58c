# What makes compiling fast: batches of sources, and headers that are compiled once.
#
# A batch is one source made of several: what they include is read, and the templates they share are
# instantiated, once for all of them. Names in anonymous namespaces then have to differ within a batch;
# tests have a namespace each.
option(RICOCHET_BATCHES "Compile sources in batches" ON)

# The sources of `target` given after `size` are compiled `size` at a time. A batch names them by where they
# lie beside it, so that it is the same text in every checkout, and found in a cache of compiled objects.
function(ricochet_batches target name size)
  if(NOT RICOCHET_BATCHES OR NOT ARGN)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  set(folder ${PROJECT_BINARY_DIR}/batches/${target})
  set(place 0)
  foreach(source ${ARGN})
    list(REMOVE_ITEM sources ${source})
    get_filename_component(source ${source} ABSOLUTE)
    file(RELATIVE_PATH source ${folder} ${source})
    math(EXPR batch "${place} / ${size}")
    string(APPEND text_${batch} "#include \"${source}\"\n")
    math(EXPR place "${place} + 1")
  endforeach()
  foreach(number RANGE ${batch})
    set(file ${folder}/${name}_${number}.cpp)
    file(CONFIGURE OUTPUT ${file} CONTENT "${text_${number}}" @ONLY)
    list(APPEND sources ${file})
  endforeach()
  set_target_properties(${target} PROPERTIES SOURCES "${sources}")
endfunction()

# Headers of others that most sources include, read once for a target.
# Clang would write the time of each into them, which no cache could know.
function(ricochet_precompile target)
  target_compile_options(${target} PRIVATE "$<$<CXX_COMPILER_ID:Clang>:SHELL:-Xclang -fno-pch-timestamp>")
  target_precompile_headers(${target} PRIVATE
    <Eigen/Cholesky> <Eigen/Core> <Eigen/Geometry> <Eigen/LU> <Eigen/QR> <Eigen/SparseCore>
    <algorithm> <array> <cmath> <filesystem> <functional> <limits> <map> <memory> <numbers>
    <optional> <span> <string> <string_view> <utility> <variant> <vector>
    <fmt/format.h> ${ARGN})
endfunction()

# The same headers as ricochet-cold has compiled, for a target that is compiled with its flags.
function(ricochet_precompiled target)
  if(TARGET ricochet-cold AND NOT RICOCHET_QUICK)
    target_compile_options(${target} PRIVATE -fPIC -fno-semantic-interposition
      $<TARGET_PROPERTY:tomlplusplus::tomlplusplus,INTERFACE_COMPILE_OPTIONS>)
    target_precompile_headers(${target} REUSE_FROM ricochet-cold)
  endif()
endfunction()

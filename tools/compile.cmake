# What makes compiling fast: batches of sources, and headers that are compiled once.
#
# A batch is one source made of several: what they include is read, and the templates they share are
# instantiated, once for all of them. Names in anonymous namespaces then have to differ within a batch;
# tests have a namespace each.
option(RICOCHET_BATCHES "Compile sources in batches" ON)

# The sources of `target` given after `size` are compiled `size` at a time.
function(ricochet_batches target name size)
  if(NOT RICOCHET_BATCHES OR NOT ARGN)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  set(place 0)
  foreach(source ${ARGN})
    math(EXPR batch "${place} / ${size}")
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${name}_${batch})
    math(EXPR place "${place} + 1")
  endforeach()
endfunction()

# Headers of others that most sources include, read once for a target.
function(ricochet_precompile target)
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

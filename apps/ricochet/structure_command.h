#pragma once

#include <string>

#include "commands.h"

namespace ricochet::app {

// What the commands do with a scene with a [structure].
int run_structure_command(const RunArguments& arguments);
int check_structure_command(const SceneArguments& arguments);
int converge_structure_command(const ConvergeArguments& arguments);
int compare_structure_command(const CompareArguments& arguments);

/// The picture of a scene of the program with a [structure], run in memory.
std::string draw_builtin_structure(const std::string& name);

}  // namespace ricochet::app

#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "ricochet/study/motion.h"

namespace ricochet::app {

/// Refuses series that would not fit into memory.
void check_series(const scene::Scene& scene);

/// Writes what [write] asks for, each file by its name and bytes. Returns what is told of it:
/// "bodies.pvd (101 files)"; empty where nothing is asked for.
std::string write_series(
    const study::Motion& motion,
    const std::function<void(const std::string& name, const std::string& bytes)>& write);

/// Whether a file is one of a series: "bodies-00001.vtp", "contacts.pvd".
bool is_of_series(const std::string& name);

}  // namespace ricochet::app

#pragma once

/// Places of the build under test, in a source that the build generates (places.cpp.in): no other
/// object depends on where the project lies, so that a cache of compiled objects serves every
/// checkout of it.
namespace ricochet::testing {

extern const char* const kSourceFolder;  // of the project
extern const char* const kProgram;       // build/bin/ricochet
extern const char* const kExample;       // build/bin/example-pendulum

}  // namespace ricochet::testing

# Writes a C++ source with the script of the players:  cmake -DOUTPUT=... -DSCRIPT=... -P this
file(READ ${SCRIPT} content)
file(WRITE ${OUTPUT} "// Generated from player.js.
#include \"ricochet/plot/animation.h\"

namespace ricochet::plot {

std::string player_script() { return R\"ricochet(${content})ricochet\"; }

}  // namespace ricochet::plot
")

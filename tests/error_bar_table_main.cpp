// Prints the table of docs/guide/error-bar.md.

#include <cstdio>

#include "error_bar_table.h"

int main() {
  std::fputs(ricochet::testing::markdown_of(
                 ricochet::testing::try_known_scenes(ricochet::testing::kTableSeed,
                                                     ricochet::testing::kTableCount))
                 .c_str(),
             stdout);
  return 0;
}

#include "ricochet/model/memory.h"

namespace ricochet::model {

Memory::Memory(const Memory&) = default;
Memory& Memory::operator=(const Memory&) = default;
Memory::~Memory() = default;

}  // namespace ricochet::model

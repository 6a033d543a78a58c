#include "ricochet/host/table_hdf5.h"

#include "ricochet/host/hdf5.h"

namespace ricochet::host {

std::string hdf5_of(const record::ValueTable& table) {
  const Silence silence;
  Writer writer;
  writer.group("trajectory");
  for (std::size_t k = 0; k < table.names().size(); ++k) {
    writer.numbers("trajectory/" + table.names()[k], table.column(k).data(),
                   table.column(k).size());
  }
  return writer.bytes();
}

}  // namespace ricochet::host

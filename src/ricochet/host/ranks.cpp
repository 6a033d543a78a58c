#include "ricochet/host/ranks.h"

#include <algorithm>
#include <cstdlib>

#include "ricochet/base/error.h"

#ifdef RICOCHET_MPI
#define OMPI_SKIP_MPICXX 1  // classes of C++ that the standard has dropped, and that do not compile
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>
#endif

namespace ricochet::host {
namespace {

/// What the launcher says: Open MPI, or another one's process manager.
int launched() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}) {
    if (const char* const words = std::getenv(name)) return std::atoi(words);
  }
  return 1;
}

#ifdef RICOCHET_MPI
std::vector<std::string> share(const std::string& given) {
  int count = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &count);
  std::vector<std::string> all(static_cast<std::size_t>(count));
  for (int rank = 0; rank < count; ++rank) {
    int own = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &own);
    std::string& bytes = all[static_cast<std::size_t>(rank)];
    if (rank == own) bytes = given;
    unsigned long long size = bytes.size();
    MPI_Bcast(&size, 1, MPI_UNSIGNED_LONG_LONG, rank, MPI_COMM_WORLD);
    bytes.resize(size);
    constexpr unsigned long long kMost = 1ULL << 30U;  // of one message
    for (unsigned long long at = 0; at < size; at += kMost) {
      const auto part = static_cast<int>(std::min(kMost, size - at));
      MPI_Bcast(bytes.data() + at, part, MPI_BYTE, rank, MPI_COMM_WORLD);
    }
  }
  return all;
}

base::Ranks begin() {
  int provided = 0;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
  std::atexit([] { MPI_Finalize(); });
  base::Ranks ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &ranks.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks.count);
  ranks.share = share;
  return ranks;
}
#else
base::Ranks begin() {
  throw base::InputError("mpirun", "this program was built without MPI",
                         "make mpi builds ricochet-mpi; or run it without mpirun");
}
#endif

}  // namespace

const base::Ranks& ranks() {
  static const base::Ranks found = launched() > 1 ? begin() : base::Ranks{};
  return found;
}

}  // namespace ricochet::host

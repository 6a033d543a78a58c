#include "ricochet/host/ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "ricochet/base/error.h"

#ifdef RICOCHET_MPI
#include <cstring>
#include <list>
#include <mutex>

#include "ricochet/host/stop_signals.h"
#define OMPI_SKIP_MPICXX 1  // classes of C++ that the standard has dropped, and that do not compile
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>
#endif

namespace ricochet::host {
namespace {

/// What the launcher says: Open MPI, or another one's process manager.
int told(std::initializer_list<const char*> names, int otherwise) {
  for (const char* name : names) {
    if (const char* const words = std::getenv(name)) return std::atoi(words);
  }
  return otherwise;
}

int launched() { return told({"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}, 1); }

std::vector<int> lost;  // of the first process

#ifdef RICOCHET_MPI
/// Letters from the other processes to the first one: the number of a task, and bytes.
class Post {
 public:
  /// Does not wait for them to arrive.
  void give(std::size_t task, const std::string& bytes) {
    const std::lock_guard lock(mutex_);
    Letter& letter = letters_.emplace_back();
    letter.bytes.assign(reinterpret_cast<const char*>(&task), sizeof(task));
    letter.bytes += bytes;
    MPI_Isend(letter.bytes.data(), static_cast<int>(letter.bytes.size()), MPI_BYTE, 0, 0,
              MPI_COMM_WORLD, &letter.request);
    int is_sent = 1;
    while (!letters_.empty() && is_sent != 0) {
      MPI_Test(&letters_.front().request, &is_sent, MPI_STATUS_IGNORE);
      if (is_sent != 0) letters_.pop_front();
    }
  }

  bool take(bool waits, const base::Ranks::Taker& taker) {
    using Clock = std::chrono::steady_clock;
    // When a process is lost mpirun asks all others to end, and kills them a second later.
    constexpr std::chrono::milliseconds kPatience(400), kPause(1);
    Clock::time_point asked{};
    while (!take_all(taker) && waits) {
      if (stop_was_signalled() && asked == Clock::time_point{}) asked = Clock::now();
      if (stop_was_signalled() && Clock::now() - asked > kPatience) {
        find_lost();
        return false;
      }
      std::this_thread::sleep_for(kPause);
    }
    return true;
  }

  /// mpirun, which has asked all processes to end, kills the others when the first of them does:
  /// that one which writes is to have its time.
  void close(bool is_first) {
    if (!is_first && stop_was_signalled()) std::this_thread::sleep_for(std::chrono::seconds(1));
    for (Letter& letter : letters_) MPI_Wait(&letter.request, MPI_STATUS_IGNORE);
    MPI_Finalize();
  }

 private:
  struct Letter {
    std::string bytes;
    MPI_Request request{};
  };

  /// Whether there were any.
  bool take_all(const base::Ranks::Taker& taker) {
    const std::lock_guard lock(mutex_);
    for (bool any = false;; any = true) {
      int has_come = 0, size = 0;
      MPI_Status status;
      MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &has_come, &status);
      if (has_come == 0) return any;
      MPI_Get_count(&status, MPI_BYTE, &size);
      std::string bytes(static_cast<std::size_t>(size), '\0');
      MPI_Recv(bytes.data(), size, MPI_BYTE, status.MPI_SOURCE, 0, MPI_COMM_WORLD, &status);
      std::size_t task = 0;
      std::memcpy(&task, bytes.data(), sizeof(task));
      if (task == base::Ranks::kEnd) ended_.push_back(status.MPI_SOURCE);
      taker(task, bytes.substr(sizeof(task)));
    }
  }

  void find_lost() {
    int count = 1;
    MPI_Comm_size(MPI_COMM_WORLD, &count);
    for (int rank = 1; rank < count; ++rank) {
      if (std::find(ended_.begin(), ended_.end(), rank) == ended_.end()) lost.push_back(rank);
    }
  }

  std::mutex mutex_;
  std::list<Letter> letters_;
  std::vector<int> ended_;
};

base::Ranks begin() {
  static Post post;
  int provided = 0;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided);
  std::atexit([] {
    if (lost.empty()) post.close(host::ranks().rank == 0);
  });
  base::Ranks ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &ranks.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks.count);
  ranks.give = [](std::size_t task, const std::string& bytes) { post.give(task, bytes); };
  ranks.take = [](bool waits, const base::Ranks::Taker& taker) { return post.take(waits, taker); };
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

void let_first_speak() {
  if (told({"OMPI_COMM_WORLD_RANK", "PMI_RANK"}, 0) == 0) return;
  std::this_thread::sleep_for(
      std::chrono::milliseconds(1500));  // by then mpirun has ended this one
}

void break_off(int code) {
  if (launched() == 1) return;
  std::fflush(nullptr);
  std::_Exit(code);
}

void wait_for_ranks() {
#ifdef RICOCHET_MPI
  if (ranks().count > 1) MPI_Barrier(MPI_COMM_WORLD);
#endif
}

std::string lost_ranks() {
  if (lost.empty()) return "";
  return fmt::format("process {} of {} was lost", fmt::join(lost, ", "), ranks().count);
}

}  // namespace ricochet::host

// Requests: puts and gets that a program has posted and not completed, and the buffer of bput.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "memory.h"

namespace nmb::pnetcdf {

// Where values that are read go: through conversion, mapping and packing into the user's buffer.
struct Target {
  void* buffer = nullptr;
  Buffer shape{};
  std::vector<MPI_Offset> imap_count{}, imap{};  // empty: row-major order
};

// A request. Start, count and stride (if there is one) of each hyperslab follow each other in
// `index`.
struct Request {
  int id = 0;
  int variable = 0;
  bool is_put = false;
  bool has_stride = false;
  int slabs = 0;
  std::vector<MPI_Offset> index{};
  std::uint64_t elements = 0;
  MPI_Offset records = 0;  // the number of records after a put; 0 for others
  // Puts: the values in the variable's native type, in the user's buffer or in `owned`.
  const std::byte* values = nullptr;
  std::unique_ptr<std::byte[]> owned{};
  int buffered = -1;  // entry of the attached buffer
  Target target{};    // gets
};

// The buffer of bput. PnetCDF frees space only behind the last used entry, and programs may look.
struct AttachedBuffer {
  MPI_Offset size = 0, used = 0;
  struct Entry {
    MPI_Offset bytes;
    bool is_used;
  };
  std::vector<Entry> entries{};

  int take(MPI_Offset bytes) {
    entries.push_back({bytes, true});
    used += bytes;
    return static_cast<int>(entries.size()) - 1;
  }
  void free(int entry) { entries[static_cast<std::size_t>(entry)].is_used = false; }
  void coalesce() {
    while (!entries.empty() && !entries.back().is_used) {
      used -= entries.back().bytes;
      entries.pop_back();
    }
  }
};

class RequestList {
 public:
  // Adds a request and gives it an ID: even for puts, odd for gets.
  Request& add(Request request);
  // Takes a request out of the list, or returns nullptr.
  std::unique_ptr<Request> take(int id);
  // Takes all puts or all gets, in the order in which they were posted.
  std::vector<std::unique_ptr<Request>> take_all(bool puts);
  std::size_t puts() const { return puts_.live; }
  std::size_t gets() const { return gets_.live; }
  bool has_buffered() const;

  std::unique_ptr<AttachedBuffer> attached;

 private:
  // Ascending in IDs. A request that is taken leaves an empty place, which goes when it is the
  // first or last.
  struct Queue {
    std::deque<std::unique_ptr<Request>> all;
    int first_id = 0;  // of all.front(); IDs go in steps of 2
    int next_id = 0;
    std::size_t live = 0;
  };
  Queue puts_, gets_;
};

}  // namespace nmb::pnetcdf

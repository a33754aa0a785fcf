// OpenFile: what one ID stands for. One program thread at a time uses a file, as in PnetCDF without
// its thread safety; the table of files has a lock of its own.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "divided_file.h"
#include "header.h"
#include "interface.h"
#include "parallel/communicator.h"
#include "reader/file_reader.h"
#include "requests.h"
#include "tally.h"
#include "writer/file_writer.h"

namespace nmb::pnetcdf {

// A hyperslab of a variable and its values in the variable's native type.
struct Access {
  int variable = 0;
  Hyperslab slab{};
  std::span<const MPI_Offset> slabs{};  // of puts, in place of `slab`: starts and counts of each
  std::byte* values = nullptr;          // only read by puts
  std::uint64_t elements = 0;
};

// A part of the arguments of a collective call that must be the same on all ranks, with the code if
// it is not.
struct Same {
  std::span<const std::byte> bytes;
  int code;
};
template <class T>
Same same(const T& value, int code) {
  return {std::as_bytes(std::span(&value, 1)), code};
}
inline Same same(std::string_view text, int code) { return {std::as_bytes(std::span(text)), code}; }

// A file that is open. Its own ID and the IDs of its blocks (nmb_pnetcdf.h) share this object. The
// file is committed and closed with the last ID.
struct SharedFile {
  MPI_Comm comm = MPI_COMM_NULL;  // a duplicate of the program's; MPI_COMM_NULL for one rank
  std::unique_ptr<Communicator> network;
  std::unique_ptr<FileWriter> writer;  // null if the file is read only
  std::unique_ptr<FileReader> reader;  // the newest generation when the file was opened, or null
  bool writer_defines = false;         // whether the writer is in define mode
  SharedFile() = default;
  SharedFile(const SharedFile&) = delete;
  SharedFile& operator=(const SharedFile&) = delete;
  ~SharedFile() {
    reader.reset();
    writer.reset();
    network.reset();
    if (comm != MPI_COMM_NULL) MPI_Comm_free(&comm);
  }
};

struct OpenFile {
  OpenFile() = default;
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  // Collective if there are several ranks.
  ~OpenFile();

  // --- what does not change ---
  std::string path;  // as the program gave it
  int mode = 0;
  int format = kFormatData;
  MPI_Comm comm = MPI_COMM_NULL;  // of `shared`
  int rank = 0, ranks = 1;
  MPI_Info info = MPI_INFO_NULL;
  bool read_only = false;
  bool safe = false;           // PNETCDF_SAFE_MODE: collective calls compare their arguments
  bool strict_coords = false;  // PNETCDF_RELAX_COORD_BOUND=0

  // --- definitions ---
  Header header;
  bool defining = false;      // in define mode
  bool is_new = false;        // created, and never left define mode
  bool fill = false;          // fill mode of new variables
  bool header_dirty = false;  // definitions have changed that the writer does not know
  int old_vars = 0;           // in define mode: variables that redef() found
  std::unique_ptr<Header> old;
  bool old_dirty = false;  // in define mode: header_dirty when redef() was called
  // The hint nmb_create=independent: names may have paths, which name blocks, and definitions are
  // final after enddef().
  bool by_path = false;
  // Whether the definitions and their IDs are those of this rank alone: until inq_global_ids().
  bool own_ids = false;
  ClassicLayout layout;  // of the classic file with these definitions

  // --- values ---
  bool independent = false;
  std::uint64_t records = 0;
  bool unseen =
      false;  // ranks may not see each other's puts; the same on all ranks in collective mode
  std::int64_t put_bytes = 0, got_bytes = 0;
  RequestList requests;
  Tally tally;

  // --- the file ---
  std::shared_ptr<SharedFile> shared;
  Communicator* network = nullptr;  // of `shared`
  FileWriter* writer = nullptr;     // of `shared`
  bool is_last() const { return shared.use_count() == 1; }
  std::string rule;               // NMB_BLOCKS; empty: one block has everything
  std::string block_name;         // of the only block, or of what the rule does not match
  std::vector<FileBlock> blocks;  // the only one, or those that the rule has made
  std::vector<VarPlace> places;   // empty: the variables are those of the only block

  // Returns whether a dimension or a variable (the other ID is negative) may get a name: the prefix
  // of a block that NMB_BLOCKS has made stays.
  bool keeps_block(int dim, int variable, std::string_view name) const;

  // --- collective helpers; each rank calls them ---
  // Returns the lowest code of all ranks.
  int lowest(int code) const;
  std::int64_t highest(std::int64_t value) const;
  void from_first(void* bytes, std::size_t size) const;
  // In safe mode: returns the lowest code of all ranks; then, if some rank passes other arguments
  // than rank 0, the lowest code for that. Otherwise returns `code`.
  int agree(int code, std::initializer_list<Same> arguments = {}) const;

  // --- the file; Status of the library becomes a code ---
  // Keeps the text of a failure for nmb_pnetcdf_message().
  int failed(const Status& status, int otherwise) const;
  // Makes the definitions of rank 0 those of all ranks. Collective.
  int adopt_first();
  // Passes the definitions to the writer. Collective.
  int define();
  // Completes changes that were made in data mode. Collective.
  int flush_header();
  // Makes all ranks see all puts. Collective.
  int meet();
  // Whether collective calls agree on the number of records; the same on all ranks.
  bool counts_records() const { return own_ids || header.record_dim() >= 0; }
  // Makes the definitions of all ranks known to all, with the same IDs. dims, vars: get the IDs of
  // what this rank has defined, in its order; may be nullptr. Collective.
  int share_definitions(int* dims, int* vars);
  int put_together(std::span<const Access> puts);  // collective
  Result<RequestId> iput(const Access& put, ConstArray values);
  int put(std::span<const Access> puts);
  int get(const Access& get);

 private:
  VarPlace place_of(int variable) const {
    return places.empty() ? VarPlace{0, static_cast<VarId>(variable)}
                          : places[static_cast<std::size_t>(variable)];
  }
  // Returns the number of records that the writer or the reader has.
  Result<std::uint64_t> records_of(const FileBlock& block) const;
  // Does adopt_first() for definitions that are laid out as CDF-5.
  int take_first();
  Status define_blocks();
  // Puts the old fill value where nothing was written, for variables whose fill value changes.
  // Collective.
  Status keep_fill_values();
  // missing: the value of records that the block does not have.
  int get(const Access& get, const std::byte* missing);
};

// Returns the file of an ID, or nullptr.
OpenFile* find_file(int file);
// Gives a file an ID. Returns a code.
int add_file(std::unique_ptr<OpenFile> file, int* id);
std::unique_ptr<OpenFile> take_file(int file);
std::vector<int> open_files();
// The message of the last failure of this process, for nmb_pnetcdf_message().
std::string& last_message();

}  // namespace nmb::pnetcdf

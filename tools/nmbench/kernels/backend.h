// Backend: what the kernels need of a library that stores arrays. Each library is linked into an
// executable of its own, because serial and parallel HDF5, and different MPI libraries, cannot
// share a process. Functions throw std::runtime_error; Refused where the library has no way to do
// what is asked, which is a result of its own.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "description.h"

namespace nmb::bench {

struct Run;

class Refused : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

enum class Element : std::uint8_t { kFloat, kInt, kInt64, kDouble };
constexpr std::size_t element_size(Element e) {
  return e == Element::kFloat || e == Element::kInt ? 4 : 8;
}

// Particles have eight members of 4 bytes: seven floats and, at kIntegerMember, an int.
inline constexpr std::size_t kMembers = 8;
inline constexpr std::size_t kIntegerMember = 6;
inline constexpr const char* kMemberNames[kMembers] = {"x",  "y",  "z",    "px",
                                                       "py", "pz", "id_1", "id_2"};

struct ArrayShape {
  std::string group, name;
  Element element = Element::kFloat;
  std::vector<std::uint64_t> lengths{};
  bool unlimited = false;              // the first dimension can grow
  std::vector<std::uint64_t> chunk{};  // empty: contiguous, where the library has a choice
  std::vector<std::uint64_t> part{};   // of a process: the chunk where the library needs one
  int deflate = 0;                     // level; 0: none
  bool particles = false;              // an element is a whole particle, all members together
};

// A selection: in each dimension `count` blocks of `block` elements, whose starts are `stride`
// apart. Memory holds the selected elements without gaps, in row-major order.
struct Slab {
  std::vector<std::uint64_t> start{}, count{};
  std::vector<std::uint64_t> stride{}, block{};  // empty: 1
  std::uint64_t elements() const {
    std::uint64_t n = 1;
    for (std::size_t i = 0; i < count.size(); ++i) n *= count[i] * (block.empty() ? 1 : block[i]);
    return n;
  }
};

struct FileOptions {
  bool collective_data = true;
  bool collective_metadata = true;
  bool file_per_process = false;  // `path` is this process's own
  bool checks = false;  // PnetCDF: compares each definition with those of the others at once
  bool sync = false;    // wait for the device at a commit
  std::uint64_t hash_size = 0;  // of PnetCDF's tables of names; 0: the library's default
  std::uint64_t alignment = 0, alignment_threshold = 0;  // HDF5: of objects of at least this size
  bool latest = false;                                   // HDF5: the newest form of each structure
  bool compact = false;  // HDF5: values of arrays lie in their object headers
  std::vector<std::pair<std::string, std::string>> hints{};  // of MPI-IO
};

// The hints for MPI-IO. To be freed by the caller.
MPI_Info info_of(const FileOptions& options);

// Definitions that were read, and a sum of hashes that does not depend on their order.
struct MetadataSum {
  std::uint64_t variables = 0, dimensions = 0, digest = 0;
  void add(std::string_view block, std::string_view variable, Type type,
           const std::vector<std::uint64_t>& lengths);
  void add(const MetadataSum& other);
  friend bool operator==(const MetadataSum&, const MetadataSum&) = default;
};

// A name and its number, as a library reports about its own work.
using Numbers = std::vector<std::pair<std::string, double>>;

class Backend {
 public:
  struct Traits {
    std::string library;         // name and version
    bool shares_file = true;     // several processes can write one file
    bool shares_reading = true;  // several processes can read one file
    // Every process must define every object.
    bool collective_definitions = false;
    bool own_blocks = false;     // all objects of a process are in one block, which is its own
    bool flat = false;           // no blocks or groups: names begin with them
    bool defines_first = false;  // definitions come before the first value
    bool arrays = true;          // has hyperslabs
    bool grows = true;           // has unlimited dimensions
    bool grows_by_call = false;  // extend() comes before values of new records
    bool compresses = true;
    bool particles = false;  // stores members as a compound type; else as one more dimension
  };

  virtual ~Backend() = default;
  virtual const Traits& traits() const = 0;

  // --- files; collective unless the file is the process's own ---
  virtual void create(const std::string& path, const FileOptions& options) = 0;
  virtual void open(const std::string& path, const FileOptions& options, bool writes) = 0;
  virtual void end_define() {}
  virtual void commit() { throw Refused("no commits"); }
  virtual void close() = 0;

  // --- very many small objects ---
  virtual void define(const Description& objects) = 0;
  // Values of variable number `variable` of its block; all of them.
  virtual void put_sample(const Description& objects, std::size_t block, std::size_t variable,
                          const std::vector<std::byte>& values);
  // Names of all samples.
  virtual void list(const std::function<void(std::string_view)>& visit) = 0;
  virtual MetadataSum read_metadata() = 0;
  // The values of BLOCK/VARIABLE, of 4 or 8 bytes. Returns how many bytes there are.
  virtual std::size_t read_variable(const std::string& block, const std::string& variable,
                                    std::vector<std::byte>* out) = 0;

  // The values of all these variables of a sample.
  virtual void read_sample(const std::string& block, const std::vector<std::string>& variables,
                           std::vector<std::vector<std::byte>>* out);

  // --- arrays ---
  virtual int define_array(const ArrayShape& shape);
  virtual int find_array(const ArrayShape& shape);
  // The first dimension of these arrays, which are all of one group, becomes `length`.
  virtual void extend(const std::vector<int>& arrays, std::uint64_t length);
  // collective: all processes call; a selection may be empty.
  // All processes want the same arrays and values: the library's own way of reading them once, if
  // it has one.
  virtual std::vector<int> find_same(const std::vector<ArrayShape>& shapes);
  virtual void get_same(int array, const Slab& slab, void* values) { get(array, slab, values); }
  // All values of put_sample() and put_many() are in the library or the file, and those of
  // get_same() in memory. All processes call.
  virtual void complete() {}
  virtual void put(int array, const Slab& slab, const void* values);
  virtual void get(int array, const Slab& slab, void* values);
  // Puts into arrays of this process alone, all together; the other processes call for their own.
  struct Put {
    int array;
    Slab slab;
    const void* values;
  };
  virtual void put_own(const std::vector<Put>& puts);
  // Selections of one array in ascending order, whose values of `size` bytes lie one after the
  // other and stay until complete().
  virtual void put_many(int array, const std::vector<Slab>& slabs, const std::byte* values,
                        std::size_t size);
  // One member of an array of particles.
  virtual void put_member(int array, const Slab& slab, std::size_t member, const void* values);
  // Whole particles.
  virtual void put_particles(int array, const Slab& slab, const std::uint32_t* particles);
  virtual void get_particles(int array, const Slab& slab, std::uint32_t* particles);
  // The member of particles in memory, into an array of single values.
  virtual void put_from_particles(int array, const Slab& slab, std::size_t member,
                                  const std::uint32_t* particles);
  virtual void get_many(int array, const std::vector<Slab>& slabs, std::byte* values,
                        std::size_t size);

  // The array is not used for a while.
  virtual void release(int array) { (void)array; }

  // A kernel by ranks that are threads of this process.
  virtual void run_by_threads(Run& run);

  // What the library says about its work since create(), in seconds and counts.
  virtual Numbers numbers() const { return {}; }
  virtual std::string notes() const { return {}; }
};

// The back end of this executable. library: path of a library to load, where the back end allows
// it.
std::unique_ptr<Backend> make_backend(const std::string& library);

}  // namespace nmb::bench

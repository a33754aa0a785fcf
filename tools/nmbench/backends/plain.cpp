// Plain files: a floor for what a library can cost. Samples are a folder with a file for each;
// arrays are one file, in which each process computes where its values lie and writes them itself.
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>

#include "sample_record.h"

namespace nmb::bench {

namespace {

[[noreturn]] void fail(const std::string& path) {
  throw std::runtime_error(path + ": " + std::strerror(errno));
}

void write_all(int file, const void* bytes, std::size_t size, std::uint64_t at,
               const std::string& path) {
  const char* from = static_cast<const char*>(bytes);
  while (size > 0) {
    const ssize_t written = pwrite(file, from, size, static_cast<off_t>(at));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) fail(path);
    from += written, at += static_cast<std::uint64_t>(written);
    size -= static_cast<std::size_t>(written);
  }
}

void read_all(int file, void* bytes, std::size_t size, std::uint64_t at, const std::string& path) {
  char* to = static_cast<char*>(bytes);
  while (size > 0) {
    const ssize_t read = pread(file, to, size, static_cast<off_t>(at));
    if (read < 0 && errno == EINTR) continue;
    if (read < 0) fail(path);
    if (read == 0) throw std::runtime_error(path + ": ends too early");
    to += read, at += static_cast<std::uint64_t>(read);
    size -= static_cast<std::size_t>(read);
  }
}

// Visits the runs of consecutive elements of a selection: offset in elements, and their number.
template <class Visit>
void for_each_run(const Slab& slab, const std::vector<std::uint64_t>& lengths, Visit visit) {
  const std::size_t rank = lengths.size();
  if (slab.elements() == 0) return;
  if (rank == 0) return visit(std::uint64_t{0}, std::uint64_t{1});
  const auto block = [&](std::size_t i) { return slab.block.empty() ? 1 : slab.block[i]; };
  const auto stride = [&](std::size_t i) { return slab.stride.empty() ? 1 : slab.stride[i]; };
  std::vector<std::uint64_t> steps(rank, 1), last(rank, 0);
  for (std::size_t i = rank; i-- > 1;) steps[i - 1] = steps[i] * lengths[i];
  // Trailing dimensions that are selected whole are part of a run.
  std::size_t inner = rank - 1;
  const auto consecutive = [&](std::size_t i) {
    return stride(i) == block(i) || slab.count[i] == 1;
  };
  while (inner > 0 && consecutive(inner) && slab.count[inner] * block(inner) == lengths[inner])
    --inner;
  const std::uint64_t run =
      (consecutive(inner) ? slab.count[inner] * block(inner) : block(inner)) * steps[inner];
  std::vector<std::uint64_t> at(rank, 0);
  for (;;) {
    std::uint64_t offset = 0;
    for (std::size_t i = 0; i < rank; ++i)
      offset += steps[i] * (slab.start[i] + at[i] / block(i) * stride(i) + at[i] % block(i));
    visit(offset, run);
    std::size_t i = inner + 1;
    for (;;) {
      if (i-- == 0) return;
      const std::uint64_t step = i != inner       ? 1
                                 : consecutive(i) ? slab.count[i] * block(i)
                                                  : block(i);
      at[i] += step;
      if (at[i] < slab.count[i] * block(i)) break;
      at[i] = 0;
    }
  }
}

class Plain final : public Backend {
 public:
  ~Plain() override {
    if (file_ >= 0) ::close(file_);
  }
  const Traits& traits() const override {
    static const Traits traits = [] {
      Traits t;
      t.library = "files";
      t.defines_first = true;
      t.compresses = false;
      return t;
    }();
    return traits;
  }

  void create(const std::string& path, const FileOptions& options) override {
    start(path, options);
    writes_ = true;
  }
  void open(const std::string& path, const FileOptions& options, bool writes) override {
    start(path, options);
    writes_ = writes;
    struct stat status {};
    if (stat(path.c_str(), &status) != 0) fail(path);
    if (S_ISDIR(status.st_mode)) return;
    open_file(writes ? O_RDWR : O_RDONLY);
    std::ifstream table(path + ".table");
    for (std::string line; std::getline(table, line);) {
      std::istringstream words(line);
      std::string name;
      Array array{0, 0, {}};
      words >> name >> array.place >> array.element;
      for (std::uint64_t length = 0; words >> length;) array.lengths.push_back(length);
      if (array.grows()) record_ += array.record_bytes();
      names_[name] = static_cast<int>(arrays_.size());
      arrays_.push_back(array);
    }
  }
  // The least that keeps records whole through a crash: the values, then a slot with their number,
  // then a mark that the slot is whole, each on the device before the next is written.
  void commit() override {
    const std::vector<std::byte> slot(kHead / 2), mark(64);
    flush();
    if (record_ == 0) return;  // nothing grows: there is no head to commit
    write_all(file_, slot.data(), slot.size(), 0, path_);
    flush();
    write_all(file_, mark.data(), mark.size(), slot.size(), path_);
    flush();
  }
  void end_define() override {
    if (arrays_.empty()) return;
    if (leads()) {
      std::ofstream table(path_ + ".table");
      for (const auto& [name, number] : names_) {
        const Array& array = arrays_[static_cast<std::size_t>(number)];
        table << name << " " << array.place << " " << array.element;
        for (const std::uint64_t length : array.lengths) table << " " << length;
        table << "\n";
      }
      if (!table.flush()) fail(path_ + ".table");
      open_file(O_RDWR | O_CREAT | O_TRUNC);
    }
    if (!options_.file_per_process) MPI_Barrier(MPI_COMM_WORLD);
    if (file_ < 0) open_file(O_RDWR);
  }
  void close() override {
    records_.finish(store());
    if (file_ >= 0) {
      if (options_.sync && writes_ && fsync(file_) != 0) fail(path_);
      if (::close(std::exchange(file_, -1)) != 0) fail(path_);
    }
    if (writes_ && !options_.file_per_process) MPI_Barrier(MPI_COMM_WORLD);
    arrays_.clear();
    names_.clear();
  }

  void define(const Description& objects) override {
    if (mkdir(path_.c_str(), 0777) != 0 && errno != EEXIST) fail(path_);
    records_.define(objects);
  }
  void put_sample(const Description&, std::size_t block, std::size_t,
                  const std::vector<std::byte>& values) override {
    records_.put(block, values, store());
  }
  void list(const std::function<void(std::string_view)>& visit) override {
    for_each_file([&](const char* name) { visit(name); });
  }
  MetadataSum read_metadata() override {
    MetadataSum sum;
    for_each_file([&](const char* name) {
      read_record(name, false);
      for (const RecordVariable& v : variables_of(sample_))
        sum.add(name, v.name, v.type, v.lengths);
    });
    return sum;
  }
  std::size_t read_variable(const std::string& block, const std::string& variable,
                            std::vector<std::byte>* out) override {
    read_record(block, true);
    copy_values(sample_, variable_named(variables_of(sample_), variable), out);
    return out->size();
  }
  void read_sample(const std::string& block, const std::vector<std::string>& variables,
                   std::vector<std::vector<std::byte>>* out) override {
    read_record(block, true);
    const std::vector<RecordVariable> all = variables_of(sample_);
    out->resize(variables.size());
    for (std::size_t v = 0; v < variables.size(); ++v)
      copy_values(sample_, variable_named(all, variables[v]), &(*out)[v]);
  }

  int define_array(const ArrayShape& shape) override {
    if (!shape.chunk.empty()) throw Refused("has no chunks");
    Array array{length_, element_size(shape.element), shape.lengths};
    if (shape.particles) array.lengths.push_back(kMembers);
    if (shape.unlimited) {
      int size = 1;
      MPI_Comm_size(MPI_COMM_WORLD, &size);
      if (!array.grows() || length_ > 0 || size > 1)
        throw Refused("only records of arrays without any yet grow, by one process");
      // A record of all arrays lies together.
      array.place = kHead + record_;
      record_ += array.record_bytes();
    } else {
      if (record_ > 0) throw Refused("has no file with arrays that grow and others");
      length_ += array.lengths[0] * array.record_bytes();
    }
    const int number = static_cast<int>(arrays_.size());
    names_[shape.group + "/" + shape.name] = number;
    arrays_.push_back(array);
    return number;
  }
  int find_array(const ArrayShape& shape) override {
    const auto found = names_.find(shape.group + "/" + shape.name);
    if (found == names_.end()) throw std::runtime_error(path_ + ": has no " + shape.name);
    return found->second;
  }
  void put(int number, const Slab& slab, const void* values) override {
    const Array& array = arrays_[static_cast<std::size_t>(number)];
    const char* from = static_cast<const char*>(values);
    for_each_range(array, slab, [&](std::uint64_t at, std::uint64_t size) {
      write_all(file_, from, size, at, path_);
      from += size;
    });
  }
  void put_own(const std::vector<Put>& puts) override {
    std::vector<std::byte> record(record_);
    for (const Put& one : puts) {
      const Array& array = arrays_[static_cast<std::size_t>(one.array)];
      std::memcpy(record.data() + array.place - kHead, one.values, array.record_bytes());
    }
    write_all(file_, record.data(), record_, kHead + puts.at(0).slab.start[0] * record_, path_);
  }
  void get(int number, const Slab& slab, void* values) override {
    const Array& array = arrays_[static_cast<std::size_t>(number)];
    char* to = static_cast<char*>(values);
    for_each_range(array, slab, [&](std::uint64_t at, std::uint64_t size) {
      read_all(file_, to, size, at, path_);
      to += size;
    });
  }

 private:
  struct Array {
    std::uint64_t place, element;
    std::vector<std::uint64_t> lengths;  // the first is 0 if the array grows

    bool grows() const { return lengths[0] == 0; }
    std::uint64_t record_bytes() const {
      std::uint64_t bytes = element;
      for (std::size_t i = 1; i < lengths.size(); ++i) bytes *= lengths[i];
      return bytes;
    }
  };
  static constexpr std::uint64_t kHead = 8192;       // before the first record
  static constexpr std::size_t kDefinitions = 4096;  // bytes that usually hold those of a sample

  // Ranges of the file that hold a selection, in its order. Of arrays that grow: whole records.
  template <class Visit>
  void for_each_range(const Array& array, const Slab& slab, Visit visit) const {
    if (!array.grows())
      return for_each_run(slab, array.lengths, [&](std::uint64_t offset, std::uint64_t count) {
        visit(array.place + offset * array.element, count * array.element);
      });
    for (std::uint64_t i = 0; i < slab.count[0]; ++i)
      visit(array.place + (slab.start[0] + i) * record_, array.record_bytes());
  }
  void flush() const {
    if (options_.sync && fdatasync(file_) != 0) fail(path_);
  }
  void start(const std::string& path, const FileOptions& options) {
    path_ = path;
    options_ = options;
    length_ = record_ = 0;
    arrays_.clear();
    names_.clear();
  }
  bool leads() const {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return options_.file_per_process || rank == 0;
  }
  void open_file(int flags) {
    file_ = ::open(path_.c_str(), flags | O_CLOEXEC, 0666);
    if (file_ < 0) fail(path_);
  }
  SampleRecords::Store store() {
    return [this](std::string_view name, std::string_view record) {
      const std::string path = path_ + "/" + std::string(name);
      const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
      if (file < 0) fail(path);
      write_all(file, record.data(), record.size(), 0, path);
      if (::close(file) != 0) fail(path);
    };
  }
  // A sample's file, or its first bytes with all definitions.
  void read_record(const std::string& name, bool values) {
    const std::string path = path_ + "/" + name;
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) fail(path);
    struct stat status {};
    if (fstat(file, &status) != 0) fail(path);
    const auto size = static_cast<std::size_t>(status.st_size);
    const auto read_first = [&](std::size_t length) {
      sample_.resize(std::min(length, size));
      read_all(file, sample_.data(), sample_.size(), 0, path);
    };
    read_first(values ? size : kDefinitions);
    if (!values && definitions_of(sample_) > sample_.size()) read_first(definitions_of(sample_));
    if (::close(file) != 0) fail(path);
  }
  template <class Visit>
  void for_each_file(Visit visit) {
    DIR* folder = opendir(path_.c_str());
    if (!folder) fail(path_);
    while (const dirent* entry = readdir(folder))
      if (entry->d_name[0] != '.') visit(entry->d_name);
    closedir(folder);
  }

  std::string path_;
  FileOptions options_;
  bool writes_ = false;
  int file_ = -1;
  std::uint64_t length_ = 0, record_ = 0;  // bytes of arrays that do not grow, of a record
  std::vector<Array> arrays_;
  std::map<std::string, int> names_;
  SampleRecords records_;
  std::string sample_;  // the last one that was read
};

}  // namespace

std::unique_ptr<Backend> make_backend(const std::string& library) {
  if (!library.empty()) throw std::runtime_error("plain files need no library");
  return std::make_unique<Plain>();
}

}  // namespace nmb::bench

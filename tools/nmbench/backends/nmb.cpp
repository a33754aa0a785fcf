// NMB. Each sample is a block; each group of arrays is a block.
#include <map>
#include <optional>

#include "handles/handle_parts.h"
#include "model/metadata.h"
#include "nmb/mpi.h"
#include "nmb/reader.h"
#include "nmb_backend.h"

namespace nmb::bench {

MemoryType memory_type_of(Element element) {
  constexpr MemoryType types[] = {MemoryType::kFloat, MemoryType::kInt32, MemoryType::kInt64,
                                  MemoryType::kDouble};
  return types[static_cast<std::size_t>(element)];
}

namespace {

MemoryType memory_of(Type type) {
  for (int i = 0; i <= static_cast<int>(MemoryType::kText); ++i)
    if (type_for(static_cast<MemoryType>(i)) == type) return static_cast<MemoryType>(i);
  throw std::runtime_error("found a type that is not classic");
}

}  // namespace

std::vector<std::pair<BlockId, std::size_t>> define_objects(FileWriter& writer,
                                                            const Description& objects) {
  std::vector<std::pair<BlockId, std::size_t>> blocks;
  std::size_t variable = 0, dimension = 0;
  std::vector<DimId> ids;
  for (const Description::Block& block : objects.blocks) {
    const BlockId id = check(writer.define_block(objects.text(block.name)));
    blocks.push_back({id, variable});
    check(writer.set_field(id, &EntryFields::samples, 1));
    for (std::uint32_t i = 0; i < block.variables; ++i) {
      const Description::Variable& v = objects.variables[variable++];
      ids.clear();
      for (std::uint8_t axis = 0; axis < v.rank; ++axis) {
        const Description::Dimension& d = objects.dimensions[dimension++];
        ids.push_back(check(writer.def_dim(id, objects.text(d.name), d.length)));
      }
      check(writer.def_var(id, objects.text(v.name), v.type, ids).status());
    }
  }
  return blocks;
}

namespace {

class Nmb final : public Backend {
 public:
  const Traits& traits() const override {
    static const Traits traits = [] {
      Traits t;
      t.library = "NMB " NMB_VERSION;
      t.defines_first = true;
      t.compresses = false;
      return t;
    }();
    return traits;
  }

  void create(const std::string& path, const FileOptions& options) override {
    start(path, options);
    FileWriterOptions writer = writer_options();
    writer.overwrite = true;
    writer_ = ranks_in_use() ? check(FileWriter::create(path, writer, communicator(*ranks_)))
                             : check(FileWriter::create(path, writer));
  }
  void open(const std::string& path, const FileOptions& options, bool writes) override {
    start(path, options);
    if (writes) {
      writer_ = ranks_in_use()
                    ? check(FileWriter::open(path, writer_options(), communicator(*ranks_)))
                    : check(FileWriter::open(path, writer_options()));
      check(writer_->end_define());
    } else {
      reader_ =
          ranks_in_use() ? check(Reader::try_open(path, *ranks_)) : check(Reader::try_open(path));
    }
  }
  void end_define() override { check(writer_->end_define()); }
  void commit() override { check(writer_->sync()); }
  void close() override {
    if (writer_) {
      check(writer_->close());
      report_ = writer_->report();
      writer_.reset();
    }
    arrays_.clear();
    views_.clear();
    reader_.reset();
  }

  void define(const Description& objects) override { blocks_ = define_objects(*writer_, objects); }
  void put_sample(const Description& objects, std::size_t block, std::size_t variable,
                  const std::vector<std::byte>& values) override {
    const auto& [id, first] = blocks_[block];
    check(writer_->put(id, static_cast<VarId>(variable - first),
                       ConstArray(memory_of(objects.variables[variable].type), values)));
  }
  void list(const std::function<void(std::string_view)>& visit) override {
    check(reader_->try_for_each_block("**", [&](const BlockView& block) -> Result<bool> {
      visit(block.name());
      return true;
    }));
  }
  MetadataSum read_metadata() override {
    MetadataSum sum;
    check(reader_->try_for_each_block("**", [&](const BlockView& block) -> Result<bool> {
      for (const VarView& v : block.vars()) {
        const std::optional<Type> type = v.type();
        sum.add(block.name(), v.name(), type ? *type : Type::kByte, v.shape());
      }
      return true;
    }));
    return sum;
  }
  std::size_t read_variable(const std::string& block, const std::string& variable,
                            std::vector<std::byte>* out) override {
    const VarView v = check(reader_->try_var(block + "/" + variable));
    std::uint64_t count = 1;
    for (const std::uint64_t length : v.shape()) count *= length;
    const MemoryType type = memory_of(*v.type());
    out->resize(count * memory_type_size(type));
    check(v.try_read(MutableArray(type, *out)));
    return out->size();
  }

  void read_sample(const std::string& block, const std::vector<std::string>& variables,
                   std::vector<std::vector<std::byte>>* out) override {
    const BlockView view = check(reader_->try_block(block));
    out->resize(variables.size());
    std::vector<ReadRequest> requests;
    for (std::size_t v = 0; v < variables.size(); ++v) {
      VarView var = check(view.try_var(variables[v]));
      const MemoryType type = memory_of(*var.type());
      Hyperslab whole{{}, var.shape(), {}};
      whole.start.assign(whole.count.size(), 0);
      std::uint64_t count = memory_type_size(type);
      for (const std::uint64_t length : whole.count) count *= length;
      (*out)[v].resize(count);
      requests.push_back({std::move(var), std::move(whole), MutableArray(type, (*out)[v])});
    }
    check(reader_->try_read_many(requests));
  }

  int define_array(const ArrayShape& shape) override {
    if (!shape.chunk.empty()) throw Refused("blocks have no chunks");
    auto found = groups_.find(shape.group);
    if (found == groups_.end())
      found = groups_.emplace(shape.group, check(writer_->define_block(shape.group))).first;
    const BlockId block = found->second;
    std::vector<DimId> dims;
    std::vector<std::uint64_t> lengths = shape.lengths;
    if (shape.particles) lengths.push_back(kMembers);
    for (std::size_t i = 0; i < lengths.size(); ++i) {
      // Dimensions of the same length are shared in a block; a block has one record dimension.
      const std::uint64_t length = shape.unlimited && i == 0 ? kUnlimited : lengths[i];
      const auto key = std::make_pair(block, std::to_string(i) + "_" + std::to_string(length));
      auto dim = dims_.find(key);
      if (dim == dims_.end()) {
        const std::string name = length == kUnlimited
                                     ? "records"
                                     : "d" + std::to_string(i) + "_" + std::to_string(length);
        dim = dims_.emplace(key, check(writer_->def_dim(block, name, length))).first;
      }
      dims.push_back(dim->second);
    }
    const Type type = type_for(memory_type_of(shape.element));
    arrays_.push_back({block, check(writer_->def_var(block, shape.name, type, dims)), shape.element,
                       shape.group});
    return static_cast<int>(arrays_.size()) - 1;
  }
  int find_array(const ArrayShape& shape) override {
    if (reader_) {
      views_.push_back({check(reader_->try_var(shape.group + "/" + shape.name)), shape.element});
      return static_cast<int>(views_.size()) - 1;
    }
    auto found = groups_.find(shape.group);
    if (found == groups_.end()) {
      const std::string_view name = shape.group;
      found =
          groups_.emplace(shape.group, check(writer_->open_blocks(std::span(&name, 1)))[0]).first;
    }
    const std::optional<VarId> variable =
        check(writer_->metadata(found->second))->find_variable(shape.name);
    if (!variable) throw std::runtime_error(shape.group + ": has no " + shape.name);
    arrays_.push_back({found->second, *variable, shape.element, shape.group});
    return static_cast<int>(arrays_.size()) - 1;
  }
  // Rank 0 reads the blocks and sends them.
  std::vector<int> find_same(const std::vector<ArrayShape>& shapes) override {
    std::vector<std::string_view> names;
    std::map<std::string_view, std::size_t> numbers;
    for (const ArrayShape& shape : shapes)
      if (numbers.emplace(shape.group, names.size()).second) names.push_back(shape.group);
    const std::vector<BlockView> blocks = check(reader_->try_open_blocks(names));
    std::vector<int> arrays;
    for (const ArrayShape& shape : shapes) {
      views_.push_back({blocks[numbers[shape.group]].var(shape.name), shape.element});
      arrays.push_back(static_cast<int>(views_.size()) - 1);
    }
    return arrays;
  }
  void get_same(int number, const Slab& slab, void* values) override {
    if (!ranks_in_use()) return get(number, slab, values);
    const View& view = views_.at(static_cast<std::size_t>(number));
    const MemoryType type = memory_type_of(view.element);
    check(view.var.try_read_same({slab.start, slab.count, slab.stride},
                                 MutableArray(type, {static_cast<std::byte*>(values),
                                                     slab.elements() * memory_type_size(type)})));
  }
  void extend(const std::vector<int>& arrays, std::uint64_t length) override {
    check(writer_->extend(array(arrays.at(0)).block, length));
  }
  void put(int number, const Slab& slab, const void* values) override {
    const Array& a = array(number);
    const MemoryType type = memory_type_of(a.element);
    const auto* bytes = static_cast<const std::byte*>(values);
    const std::size_t size = memory_type_size(type);
    if (slab.block.empty()) {
      const Hyperslab hyperslab{slab.start, slab.count, slab.stride};
      const ConstArray array(type, {bytes, slab.elements() * size});
      return options_.collective_data && ranks_in_use()
                 ? check(writer_->put_all(a.block, a.variable, hyperslab, array))
                 : check(writer_->put(a.block, a.variable, hyperslab, array));
    }
    // Blocks of the slowest dimension are requests that are put together.
    std::vector<RequestId> requests;
    for_each_block(slab, [&](const Hyperslab& part, std::uint64_t elements) {
      requests.push_back(check(
          writer_->iput(a.block, a.variable, part, ConstArray(type, {bytes, elements * size}))));
      bytes += elements * size;
    });
    check(options_.collective_data && ranks_in_use() ? writer_->wait_all(requests)
                                                     : writer_->wait(requests));
  }
  void put_own(const std::vector<Put>& puts) override {
    for (const Put& one : puts) {
      const Array& a = array(one.array);
      const MemoryType type = memory_type_of(a.element);
      check(writer_->put(a.block, a.variable, {one.slab.start, one.slab.count, {}},
                         ConstArray(type, {static_cast<const std::byte*>(one.values),
                                           one.slab.elements() * memory_type_size(type)})));
    }
  }
  void put_many(int number, const std::vector<Slab>& slabs, const std::byte* values,
                std::size_t size) override {
    const Array& a = array(number);
    waits_ = true;
    std::vector<std::uint64_t> numbers;
    std::uint64_t elements = 0;
    for (const Slab& slab : slabs) {
      numbers.insert(numbers.end(), slab.start.begin(), slab.start.end());
      numbers.insert(numbers.end(), slab.count.begin(), slab.count.end());
      elements += slab.elements();
    }
    if (elements == 0) return;
    requests_.push_back(
        check(writer_->iput(a.block, a.variable, Hyperslabs{numbers},
                            ConstArray(memory_type_of(a.element), {values, elements * size}))));
  }
  void complete() override {
    if (!std::exchange(waits_, false)) return;
    check(ranks_in_use() ? writer_->wait_all(requests_) : writer_->wait(requests_));
    requests_.clear();
  }
  void get(int number, const Slab& slab, void* values) override {
    const View& view = views_.at(static_cast<std::size_t>(number));
    const MemoryType type = memory_type_of(view.element);
    auto* bytes = static_cast<std::byte*>(values);
    const std::size_t size = memory_type_size(type);
    if (slab.block.empty())
      return check(view.var.try_read({slab.start, slab.count, slab.stride},
                                     MutableArray(type, {bytes, slab.elements() * size})));
    std::vector<ReadRequest> requests;
    for_each_block(slab, [&](const Hyperslab& part, std::uint64_t elements) {
      requests.push_back({view.var, part, MutableArray(type, {bytes, elements * size})});
      bytes += elements * size;
    });
    check(reader_->try_read_many(requests));
  }
  void get_many(int number, const std::vector<Slab>& slabs, std::byte* values,
                std::size_t size) override {
    const View& view = views_.at(static_cast<std::size_t>(number));
    std::vector<ReadRequest> requests;
    for (const Slab& slab : slabs) {
      requests.push_back(
          {view.var,
           {slab.start, slab.count, slab.stride},
           MutableArray(memory_type_of(view.element), {values, slab.elements() * size})});
      values += slab.elements() * size;
    }
    check(reader_->try_read_many(requests));
  }

  void run_by_threads(Run& run) override { run_thread_kernel(run); }

  // Seconds of the writer's phases on this process, and its own counts.
  Numbers numbers() const override {
    if (!report_) return {};
    return {{"writer_create", report_->create},
            {"writer_check", report_->check},
            {"writer_values", report_->write_values},
            {"writer_metadata", report_->write_metadata},
            {"writer_index", report_->write_index},
            {"writer_commit", report_->commit},
            {"messages", static_cast<double>(report_->messages)},
            {"message_bytes", static_cast<double>(report_->message_bytes)},
            {"file_writes", static_cast<double>(report_->writes)},
            {"file_bytes_written", static_cast<double>(report_->bytes_written)},
            {"file_reads", static_cast<double>(report_->reads)},
            {"file_bytes_read", static_cast<double>(report_->bytes_read)}};
  }
  std::string notes() const override {
    return "consistency checks are always on; an element of 8 members is one more dimension";
  }

 private:
  struct Array {
    BlockId block;
    VarId variable;
    Element element;
    std::string group;
  };
  struct View {
    VarView var;
    Element element;
  };
  void start(const std::string&, const FileOptions& options) {
    options_ = options;
    groups_.clear();
    dims_.clear();
    arrays_.clear();
    views_.clear();
    int size = 1;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (!ranks_ && size > 1 && !options.file_per_process) ranks_ = mpi_ranks(MPI_COMM_WORLD);
  }
  bool ranks_in_use() const { return ranks_.has_value() && !options_.file_per_process; }
  FileWriterOptions writer_options() const {
    FileWriterOptions options;
    options.sync = options_.sync;
    return options;
  }
  const Array& array(int number) const { return arrays_.at(static_cast<std::size_t>(number)); }
  template <class Visit>
  static void for_each_block(const Slab& slab, Visit visit) {
    for (std::size_t i = 1; i < slab.block.size(); ++i)
      if (slab.block[i] != 1) throw Refused("blocks of a selection are in the first dimension");
    std::uint64_t elements = slab.block[0];
    for (std::size_t i = 1; i < slab.count.size(); ++i) elements *= slab.count[i];
    Hyperslab part{slab.start, slab.count, slab.stride};
    for (std::uint64_t n = 0; n < slab.count[0]; ++n) {
      part.start[0] = slab.start[0] + n * slab.stride[0];
      part.count[0] = slab.block[0];
      if (!part.stride.empty()) part.stride[0] = 1;
      visit(part, elements);
    }
  }

  FileOptions options_;
  std::optional<Ranks> ranks_;
  std::unique_ptr<FileWriter> writer_;
  std::optional<Reader> reader_;
  std::optional<FileWriterReport> report_;
  std::vector<std::pair<BlockId, std::size_t>> blocks_;  // and the number of the first variable
  std::map<std::string, BlockId> groups_;
  std::map<std::pair<BlockId, std::string>, DimId> dims_;
  std::vector<Array> arrays_;
  std::vector<View> views_;
  std::vector<RequestId> requests_;  // of put_many()
  bool waits_ = false;               // all ranks complete requests, also one that has none
};

}  // namespace

std::unique_ptr<Backend> make_backend(const std::string& library) {
  if (!library.empty()) throw std::runtime_error("NMB needs no other library");
  return std::make_unique<Nmb>();
}

}  // namespace nmb::bench

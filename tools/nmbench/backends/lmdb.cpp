// LMDB: a key and a value for each variable, as loaders of samples use it. It has no arrays of
// which parts are read or written.
#include <lmdb.h>
#include <unistd.h>

#include <cstring>

#include "backend.h"

namespace nmb::bench {

namespace {

constexpr std::size_t kMapBytes = std::size_t{1} << 40;  // of address space
constexpr std::size_t kVariablesOfTransaction = 100'000;

void check(int status) {
  if (status != MDB_SUCCESS) throw std::runtime_error(std::string("LMDB: ") + mdb_strerror(status));
}

// A value begins with the type and the lengths of the dimensions.
std::string header_of(Type type, const std::vector<std::uint64_t>& lengths) {
  std::string header;
  header += static_cast<char>(type);
  header += static_cast<char>(lengths.size());
  for (const std::uint64_t length : lengths)
    header.append(reinterpret_cast<const char*>(&length), sizeof length);
  return header;
}

class Lmdb final : public Backend {
 public:
  Lmdb() {
    int major = 0, minor = 0, patch = 0;
    mdb_version(&major, &minor, &patch);
    traits_.library =
        "LMDB " + std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
    traits_.shares_file = false;  // its writers wait for each other: no work is shared
    traits_.arrays = false;
  }
  ~Lmdb() override { end(); }
  const Traits& traits() const override { return traits_; }

  void create(const std::string& path, const FileOptions& options) override {
    ::unlink(path.c_str());
    ::unlink((path + "-lock").c_str());
    start(path, options.sync ? 0 : MDB_NOSYNC, true);
  }
  void open(const std::string& path, const FileOptions&, bool writes) override {
    start(path, writes ? 0 : MDB_RDONLY, writes);
  }
  void commit() override {
    commit_transaction();
    begin(true);
  }
  void close() override {
    if (writes_) commit_transaction();
    end();
  }

  void define(const Description& objects) override {
    std::size_t variable = 0, dimension = 0;
    std::vector<std::uint64_t> lengths;
    for (const Description::Block& block : objects.blocks) {
      for (std::uint32_t i = 0; i < block.variables; ++i) {
        const Description::Variable& v = objects.variables[variable++];
        lengths.clear();
        for (std::uint8_t axis = 0; axis < v.rank; ++axis)
          lengths.push_back(objects.dimensions[dimension++].length);
        headers_.push_back(header_of(v.type, lengths));
        put_value(std::string(objects.text(block.name)) + "/" + std::string(objects.text(v.name)),
                  headers_.back());
        if (variable % kVariablesOfTransaction == 0) commit();
      }
    }
  }
  void put_sample(const Description& objects, std::size_t block, std::size_t variable,
                  const std::vector<std::byte>& values) override {
    std::string all = headers_[variable];
    all.append(reinterpret_cast<const char*>(values.data()), values.size());
    put_value(std::string(objects.text(objects.blocks[block].name)) + "/" +
                  std::string(objects.text(objects.variables[variable].name)),
              all);
    if ((variable + 1) % kVariablesOfTransaction == 0) commit();
  }
  std::uint64_t list(const std::function<void(std::string_view)>& visit) override {
    std::uint64_t names = 0;
    for_each([&](std::string_view key, const MDB_val&) {
      visit(key);
      ++names;
    });
    return names;
  }
  MetadataSum read_metadata() override {
    MetadataSum sum;
    for_each([&](std::string_view key, const MDB_val& value) {
      const std::size_t slash = key.rfind('/');
      const char* bytes = static_cast<const char*>(value.mv_data);
      if (slash == std::string_view::npos || value.mv_size < 2)
        throw std::runtime_error("found a key or value that no kernel writes");
      std::vector<std::uint64_t> lengths(static_cast<unsigned char>(bytes[1]));
      if (value.mv_size < 2 + lengths.size() * 8) throw std::runtime_error("found a short value");
      std::memcpy(lengths.data(), bytes + 2, lengths.size() * 8);
      sum.add(key.substr(0, slash), key.substr(slash + 1), static_cast<Type>(bytes[0]), lengths);
    });
    return sum;
  }
  std::size_t read_variable(const std::string& block, const std::string& variable,
                            std::vector<std::byte>* out) override {
    std::string name = block + "/" + variable;
    MDB_val key{name.size(), name.data()}, value{};
    check(mdb_get(transaction_, table_, &key, &value));
    const auto* bytes = static_cast<const std::byte*>(value.mv_data);
    const std::size_t header = 2 + 8 * static_cast<std::size_t>(bytes[1]);
    out->assign(bytes + header, bytes + value.mv_size);
    return out->size();
  }
  std::string notes() const override {
    return "a key for each variable, in transactions of at most 100,000; one process writes";
  }

 private:
  void start(const std::string& path, unsigned flags, bool writes) {
    end();
    headers_.clear();
    check(mdb_env_create(&environment_));
    check(mdb_env_set_mapsize(environment_, kMapBytes));
    check(mdb_env_open(environment_, path.c_str(), flags | MDB_NOSUBDIR, 0666));
    begin(writes);
    check(mdb_dbi_open(transaction_, nullptr, 0, &table_));
  }
  void begin(bool writes) {
    writes_ = writes;
    check(mdb_txn_begin(environment_, nullptr, writes ? 0 : MDB_RDONLY, &transaction_));
  }
  void commit_transaction() { check(mdb_txn_commit(std::exchange(transaction_, nullptr))); }
  void end() {
    if (transaction_) mdb_txn_abort(std::exchange(transaction_, nullptr));
    if (environment_) mdb_env_close(std::exchange(environment_, nullptr));
  }
  void put_value(std::string name, std::string text) {
    MDB_val key{name.size(), name.data()}, value{text.size(), text.data()};
    check(mdb_put(transaction_, table_, &key, &value, 0));
  }
  template <class Visit>
  void for_each(Visit visit) {
    MDB_cursor* cursor = nullptr;
    check(mdb_cursor_open(transaction_, table_, &cursor));
    MDB_val key{}, value{};
    int status = 0;
    while ((status = mdb_cursor_get(cursor, &key, &value, MDB_NEXT)) == MDB_SUCCESS)
      visit(std::string_view(static_cast<const char*>(key.mv_data), key.mv_size), value);
    mdb_cursor_close(cursor);
    if (status != MDB_NOTFOUND) check(status);
  }

  Traits traits_;
  MDB_env* environment_ = nullptr;
  MDB_txn* transaction_ = nullptr;
  MDB_dbi table_ = 0;
  bool writes_ = false;
  std::vector<std::string> headers_;
};

}  // namespace

std::unique_ptr<Backend> make_backend(const std::string& library) {
  if (!library.empty()) throw std::runtime_error("LMDB is linked: no other library can be named");
  return std::make_unique<Lmdb>();
}

}  // namespace nmb::bench

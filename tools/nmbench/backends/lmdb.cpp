// LMDB: a key and a record for each sample, as loaders of samples use it. It has no arrays of which
// parts are read or written.
#include <lmdb.h>
#include <unistd.h>

#include "sample_record.h"

namespace nmb::bench {

namespace {

constexpr std::size_t kMapBytes = std::size_t{1} << 40;  // of address space
constexpr std::size_t kSamplesOfTransaction = 10'000;

void check(int status) {
  if (status != MDB_SUCCESS) throw std::runtime_error(std::string("LMDB: ") + mdb_strerror(status));
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
    if (writes_) {
      records_.finish(store());
      commit_transaction();
    }
    end();
  }

  void define(const Description& objects) override { records_.define(objects); }
  void put_sample(const Description&, std::size_t block, std::size_t,
                  const std::vector<std::byte>& values) override {
    records_.put(block, values, store());
  }
  void list(const std::function<void(std::string_view)>& visit) override {
    for_each([&](std::string_view key, std::string_view) { visit(key); });
  }
  MetadataSum read_metadata() override {
    MetadataSum sum;
    for_each([&](std::string_view key, std::string_view record) {
      for (const RecordVariable& v : variables_of(record)) sum.add(key, v.name, v.type, v.lengths);
    });
    return sum;
  }
  std::size_t read_variable(const std::string& block, const std::string& variable,
                            std::vector<std::byte>* out) override {
    const std::string_view record = record_of(block);
    copy_values(record, variable_named(variables_of(record), variable), out);
    return out->size();
  }
  void read_sample(const std::string& block, const std::vector<std::string>& variables,
                   std::vector<std::vector<std::byte>>* out) override {
    const std::string_view record = record_of(block);
    const std::vector<RecordVariable> all = variables_of(record);
    out->resize(variables.size());
    for (std::size_t v = 0; v < variables.size(); ++v)
      copy_values(record, variable_named(all, variables[v]), &(*out)[v]);
  }
  std::string notes() const override {
    return "a record for each sample, in transactions of at most 10,000; one process writes";
  }

 private:
  void start(const std::string& path, unsigned flags, bool writes) {
    end();
    stored_ = 0;
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
  SampleRecords::Store store() {
    return [this](std::string_view name, std::string_view record) {
      MDB_val key = bytes_of(name), value = bytes_of(record);
      check(mdb_put(transaction_, table_, &key, &value, 0));
      if (++stored_ % kSamplesOfTransaction == 0) commit();
    };
  }
  std::string_view record_of(const std::string& name) {
    MDB_val key = bytes_of(name), value{};
    check(mdb_get(transaction_, table_, &key, &value));
    return text_of(value);
  }
  static MDB_val bytes_of(std::string_view text) {
    return {text.size(), const_cast<char*>(text.data())};
  }
  static std::string_view text_of(const MDB_val& value) {
    return {static_cast<const char*>(value.mv_data), value.mv_size};
  }
  template <class Visit>
  void for_each(Visit visit) {
    MDB_cursor* cursor = nullptr;
    check(mdb_cursor_open(transaction_, table_, &cursor));
    MDB_val key{}, value{};
    int status = 0;
    while ((status = mdb_cursor_get(cursor, &key, &value, MDB_NEXT)) == MDB_SUCCESS)
      visit(text_of(key), text_of(value));
    mdb_cursor_close(cursor);
    if (status != MDB_NOTFOUND) check(status);
  }

  Traits traits_;
  MDB_env* environment_ = nullptr;
  MDB_txn* transaction_ = nullptr;
  MDB_dbi table_ = 0;
  bool writes_ = false;
  SampleRecords records_;
  std::size_t stored_ = 0;
};

}  // namespace

std::unique_ptr<Backend> make_backend(const std::string& library) {
  if (!library.empty()) throw std::runtime_error("LMDB is linked: no other library can be named");
  return std::make_unique<Lmdb>();
}

}  // namespace nmb::bench

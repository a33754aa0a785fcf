// A model of an NMB file: the content that a writer got, compared with the content that a reader
// returns; and a session of random calls that keeps a model in step with a writer.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "reader/file_reader.h"
#include "writer/file_writer.h"

namespace nmb::test {

struct ModelVariable {
  std::string name;
  Type type = Type::kInt;
  std::vector<DimId> dimensions;
  std::map<std::string, std::string> texts;
  std::optional<int> fill;
  // Row-major; NaN: not put. Values are small integers, which every type holds.
  std::vector<double> values;
  bool laid_out = false;

  double fill_as_double() const;
};

struct ModelBlock {
  std::vector<std::pair<std::string, std::uint64_t>> dimensions;
  std::vector<ModelVariable> variables;
  std::map<std::string, std::string> texts;
  std::uint64_t records = 0, samples = 0;

  bool is_record_variable(const ModelVariable& variable) const;
  std::vector<std::uint64_t> shape(const ModelVariable& variable) const;
  void resize_values();
};

using Model = std::map<std::string, ModelBlock>;

// Returns what differs between a reader and the model; "" if nothing does.
std::string difference(const Model& model, const FileReader& reader);
// The same of a file, opened for this.
std::string difference(const Model& model, const std::filesystem::path& file);
// Findings of nmb::verify, one a line; empty: none. Rules in `allowed` are left out.
std::string findings_of(const ByteSource& file, const std::vector<std::string>& allowed = {});
std::string findings_of(const std::filesystem::path& file,
                        const std::vector<std::string>& allowed = {});

// A block as a classic file holds it, made of the model; values that were not put are fill values.
PackedBlock packed_block(const std::string& name, const ModelBlock& block, Kind kind,
                         std::size_t trailing_bytes);

// Calls to a writer at random, the same for the same seed. The model follows calls that succeed;
// failures other than the refusals that the writer promises are returned.
class RandomSession {
 public:
  // few_runs: values of large variables are put in one run, so that there are few calls to the
  // file.
  RandomSession(FileWriter& writer, Model& model, std::uint64_t seed, bool few_runs = false)
      : writer_(writer), model_(model), random_(seed), few_runs_(few_runs) {}

  Status define(int calls);
  // Blocks of two record variables.
  Status define_growing(int blocks);
  Status end_define();
  Status put(int calls);
  // So many times one more record, whole, of some block; returns how many times the block could
  // have records.
  Result<int> add_records(int calls);
  // Packed blocks may be changed from now on.
  void committed() { packed_.clear(); }

 private:
  std::uint64_t below(std::uint64_t n) { return random_() % n; }
  bool one_in(std::uint64_t n) { return below(n) == 0; }
  std::string new_name();
  ModelBlock random_block(bool classic_types);
  void add_variable(ModelBlock* block, bool classic_types);
  Status define_block();
  Status pack();
  Status give_pieces(BlockId id, const ByteSource& extent);
  Status add_definitions(Model::iterator at);
  Status put_fill_value(Model::iterator at);
  Status put_values(Model::iterator at);
  Status put_slab(Model::iterator at, VarId v, const Hyperslab& slab);
  Model::iterator any_block();

  FileWriter& writer_;
  Model& model_;
  std::mt19937_64 random_;
  bool few_runs_;
  std::vector<std::string> packed_;  // not committed: they cannot be changed yet
};

}  // namespace nmb::test

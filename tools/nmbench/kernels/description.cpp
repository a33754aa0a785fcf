// The three shapes of descriptions (see description.h).
#include "description.h"

#include <array>
#include <cstdio>
#include <initializer_list>

namespace nmb::bench {

namespace {

// Every so many samples one has an empty array, whose empty dimension is left out: 5 in 35,530.
constexpr std::uint64_t kEmptyEvery = 7106;

// Numbers that look random and need none before them (the finaliser of SplitMix64).
constexpr std::uint64_t scatter(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
  return x ^ (x >> 31);
}

std::string numbered(const char* format, std::uint64_t number) {
  std::array<char, 48> text{};
  std::snprintf(text.data(), text.size(), format, static_cast<unsigned long>(number));
  return text.data();
}

constexpr std::string_view kGroup = "grp_";
constexpr char kEndOfSample = '.';
std::string flat_prefix(const std::string& name) {
  return std::string(kGroup) + name + kEndOfSample;
}

class Describer {
 public:
  Describer(Description* out, bool flat) : out_(*out), flat_(flat) {}

  void begin_block(const std::string& name) {
    prefix_ = flat_ ? flat_prefix(name) : "";
    if (!flat_ || out_.blocks.empty()) out_.blocks.push_back({keep(flat_ ? "" : name), 0});
  }
  void begin_only_block(const std::string& name) { out_.blocks.push_back({keep(name), 0}); }
  // Dimensions are called after the variable, `suffix` and their number.
  void add(const std::string& variable, Type type, std::initializer_list<std::uint64_t> lengths,
           const char* suffix) {
    std::uint8_t rank = 0;
    for (const std::uint64_t length : lengths) {
      if (length == 0) continue;
      const std::string number = std::to_string(rank++);
      out_.dimensions.push_back({keep(prefix_ + variable + suffix + number), length});
    }
    out_.variables.push_back({keep(prefix_ + variable), type, rank});
    ++out_.blocks.back().variables;
  }

 private:
  Description::Name keep(const std::string& name) {
    const auto place = static_cast<std::uint32_t>(out_.heap.size());
    out_.heap += name;
    return {place, static_cast<std::uint32_t>(name.size())};
  }
  Description& out_;
  bool flat_;
  std::string prefix_;
};

// 10 variables and 15 dimensions; of the last sample only the first dimension of each.
void describe_event(std::uint64_t sample, bool last, Describer* out) {
  const std::string event = numbered("evt_r0001_s%07lu_", sample);
  const std::uint64_t hits = 1 + scatter(sample) % 64, edges = 1 + scatter(sample + hits) % 64;
  const auto add = [&](const char* key, Type type, std::uint64_t first, std::uint64_t second) {
    if (last) second = 0;
    out->add(event + key, type, {first, second}, "_d");
  };
  add("x_hit_positions_u", Type::kFloat, hits, 3);
  add("x_hit_positions_v", Type::kFloat, hits, 3);
  add("x_hit_positions_y", Type::kFloat, hits, 3);
  add("edge_index_u", Type::kInt64, 2, edges);
  add("edge_index_v", Type::kInt64, 2, edges);
  add("space_point_index", Type::kInt64, edges, 0);
  add("y_semantic_label", Type::kInt, hits, 0);
  add("y_instance_label", Type::kInt, hits, 0);
  add("evt_time_stamp", Type::kDouble, hits, 0);
  add("sp_nexus_charge", Type::kDouble, edges, 0);
}

// 16 variables and 24 dimensions.
void describe_graph(std::uint64_t sample, Describer* out) {
  const std::uint64_t random = scatter(sample + 1);
  out->begin_block("r" + std::to_string(4952 + sample / 120) + "_sr" +
                   std::to_string(random % 1000) + "_evt" +
                   std::to_string(1 + sample % 120 * 100 + random / 1000 % 100));
  constexpr std::array<const char*, 3> kPlanes = {"u", "v", "y"};
  std::array<std::uint64_t, 3> hits{};
  for (std::size_t p = 0; p < 3; ++p) hits[p] = 20 + scatter(random + p) % 60;
  const auto per_plane = [&](const std::string& key, auto add) {
    for (std::size_t p = 0; p < 3; ++p) add(key + kPlanes[p], hits[p], p);
  };
  per_plane("edge_index_3d_", [&](const std::string& key, std::uint64_t n, std::size_t p) {
    const bool empty = p == 0 && sample % kEmptyEvery == kEmptyEvery - 1;
    out->add(key, Type::kInt64, {2, empty ? 0 : n}, "_dim_");
  });
  per_plane("edge_index_", [&](const std::string& key, std::uint64_t n, std::size_t) {
    out->add(key, Type::kInt64, {2, 6 * n - 20}, "_dim_");
  });
  out->add("n_sp", Type::kInt64, {}, "_dim_");
  per_plane("x_", [&](const std::string& key, std::uint64_t n, std::size_t) {
    out->add(key, Type::kFloat, {n, 9}, "_dim_");
  });
  for (const char* key : {"y_i_", "y_s_"})
    per_plane(key, [&](const std::string& name, std::uint64_t n, std::size_t) {
      out->add(name, Type::kInt64, {n}, "_dim_");
    });
}

void describe_single(std::uint64_t sample, Describer* out) {
  out->begin_block(numbered("s%07lu", sample));
  out->add("hits", Type::kInt, {32}, "_d");
}

}  // namespace

Description describe(Shape shape, const Samples& samples, bool flat, const std::string& block) {
  Description description;
  Describer describer(&description, flat || shape == Shape::kOne);
  const std::size_t variables = shape == Shape::kOne ? 10 : shape == Shape::kSamples ? 16 : 1;
  const std::size_t dimensions = shape == Shape::kOne ? 15 : shape == Shape::kSamples ? 24 : 1;
  description.variables.reserve(variables * samples.count);
  description.dimensions.reserve(dimensions * samples.count);
  // Nothing large is freed: that would change how the allocator serves the library afterwards.
  description.heap.reserve((shape == Shape::kOneObject ? 64 : 2048) * samples.count + block.size());
  description.blocks.reserve(samples.count);
  if (shape == Shape::kOne) describer.begin_only_block(block);
  for (std::uint64_t i = 0; i < samples.count; ++i) {
    const std::uint64_t sample = samples.first + i * samples.step;
    if (shape == Shape::kOne) describe_event(sample, sample + 1 == samples.of, &describer);
    if (shape == Shape::kSamples) describe_graph(sample, &describer);
    if (shape == Shape::kOneObject) describe_single(sample, &describer);
  }
  return description;
}

std::string_view sample_of(std::string_view flat_name) {
  const std::size_t end = flat_name.find(kEndOfSample);
  if (flat_name.substr(0, kGroup.size()) != kGroup || end == flat_name.npos) return {};
  return flat_name.substr(kGroup.size(), end - kGroup.size());
}

std::vector<std::int32_t> values_of(std::uint64_t v, std::uint64_t count) {
  std::vector<std::int32_t> values(count);
  for (std::uint64_t i = 0; i < count; ++i) values[i] = value_at(v, i);
  return values;
}

}  // namespace nmb::bench

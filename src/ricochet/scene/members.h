#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ricochet/scene/scene.h"

namespace ricochet::scene {

/// The members of a family, each made of its numbers. The scene is read once, with the parameters
/// that vary as slots; a member sets them, and the coordinates of its start. It is the same, to the
/// last bit, as one that is read from the document, which is what happens where numbers are not
/// enough: where other keys vary, or a number makes another system.
class Members {
 public:
  /// The scene and the family must outlive it.
  Members(const Scene& scene, const std::vector<Override>& overrides, const Family& family);

  std::size_t size() const { return family_.size(); }

  /// A place for one member after the other, of one thread.
  class Place {
   public:
    const model::FormulaModel& model() const { return read_ ? *read_->formulas() : *model_; }
    const model::State<model::kDynamic>& start() const { return read_ ? read_->start : start_; }
    const step::Scheme& scheme() const { return read_ ? read_->scheme : scene_->scheme; }
    bool is_alike() const { return !read_; }  // to all others that numbers made
    const step::RunSettings& run() const { return read_ ? read_->run : scene_->run; }

   private:
    friend class Members;
    const Scene* scene_{nullptr};
    std::unique_ptr<model::FormulaModel> model_;
    formula::Graph graph_;
    formula::Graph kept_;  // of what a section keeps
    std::vector<double> values_;
    model::State<model::kDynamic> start_;
    std::optional<Scene> read_;  // where numbers were not enough
  };

  /// The scene between its members, whose numbers are set; null: numbers do not make them.
  const Scene* pattern() const { return pattern_ ? &*pattern_ : nullptr; }
  Place make_place() const;
  /// Whether members differ by their starts alone: one set of equations, and one section, is that
  /// of all whose start can be taken from numbers.
  bool differ_by_start() const;
  /// The start of such a member, whether walls let it be there or not. False where the member has
  /// to be read.
  bool take_start(std::size_t member, Place& place) const;

  /// Throws base::InputError for a member that is none.
  void load(std::size_t member, Place& place) const;
  /// How often the document was read since.
  long long documents() const { return documents_; }

 private:
  /// A key of the family: a slot by its number, or a coordinate of the start.
  struct Key {
    int slot{-1};
    int coordinate{-1};
    bool is_velocity{false};
  };
  bool find_keys();
  void read_pattern();
  bool refill(std::size_t member, Place& place) const;
  void set_values(std::size_t member, Place& place) const;
  void set_start(std::size_t member, Place& place) const;

  const Scene& scene_;
  const Family& family_;
  std::vector<Override> overrides_;
  std::vector<Key> keys_;
  std::vector<std::string> names_;  // of slots
  std::optional<Scene> pattern_;    // read with slots
  std::unique_ptr<Document> document_;
  mutable std::atomic<long long> documents_{0};
};

}  // namespace ricochet::scene

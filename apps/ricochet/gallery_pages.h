#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "ricochet/plot/frames.h"
#include "ricochet/plot/run_plot.h"
#include "ricochet/scene/scene.h"
#include "ricochet/study/gallery.h"
#include "run_folder.h"

namespace ricochet::app {

/// What is kept of a run to draw it again, on a plate or on the index.
struct KeptRun {
  std::string label;
  scene::Scene scene;
  plot::RunPicture picture;
  certify::Certificate certificate;
  plot::Frames frames;
  std::optional<record::LineRecord> line;  // of a structure
  std::string bodies;                      // the picture of a world
};

KeptRun keep_run(const std::string& label, FolderRun& run);

/// The pages of a gallery: one of each experiment with its plates, the facts beside them and links
/// to the reports of its runs; and the index.
class GalleryPages {
 public:
  explicit GalleryPages(std::filesystem::path folder) : folder_(std::move(folder)) {}

  /// Writes plates and page of an experiment and its runs; returns the page's place.
  std::filesystem::path add(const study::GalleryEntry& entry, const study::Exhibit& exhibit,
                            std::vector<KeptRun> runs);

  /// Writes index.html; returns its place.
  std::filesystem::path write_index() const;

 private:
  struct Card {
    std::string name;
    std::string title;
    std::string source;
    std::string picture;  // relative to the folder
    std::size_t facts{0};
    std::size_t agreeing{0};
  };
  void choose_player();
  std::vector<const KeptRun*> find_all(const study::PlateRun& wanted) const;
  struct Picture {
    std::string svg;
    std::string small;  // for the card; "": none
  };
  Picture draw(const study::Plate& plate) const;
  static std::string thumbnail_of(const KeptRun& run);
  std::string write_thumbnail(const KeptRun& run) const;
  std::string runs_of_entry() const;

  std::filesystem::path folder_;
  std::vector<KeptRun> runs_;  // of the experiment being shown
  std::vector<Card> cards_;
  std::string player_;  // the one on the index
  std::string player_title_;
};

}  // namespace ricochet::app

"""What writers of signatures work with: tests of fixtures, a first draft from a log, statistics, packs that travel."""

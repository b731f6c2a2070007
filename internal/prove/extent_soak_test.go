//go:build soak

package prove

// everyFate has every fate of a story tried.
const everyFate = true

// longestOnBoth is longer than any world.
const longestOnBoth = 10_000 * day

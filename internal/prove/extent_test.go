//go:build !soak

package prove

// everyFate has every fate of a story tried. A soak does.
const everyFate = false

// longestOnBoth is how long a world lasts at most that runs on both databases.
const longestOnBoth = 40 * day

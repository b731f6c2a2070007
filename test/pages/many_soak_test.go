//go:build soak

package pages

// many is how many contracts a merchant changes at once.
const many = 1000

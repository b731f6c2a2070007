//go:build !soak

package pages

// many is how many contracts a merchant changes at once. A soak has more.
const many = 100

//go:build soak

package pages

// many is how many contracts a merchant changes at once.
const many = 1000

// auditedWidths are the widths in pixels at which pages are audited.
var auditedWidths = []int64{390, 1280}

// auditsAll has every page audited, also those that were audited as they are.
const auditsAll = true

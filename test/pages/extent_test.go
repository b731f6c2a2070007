//go:build !soak

package pages

// many is how many contracts a merchant changes at once. A soak has more.
const many = 100

// auditedWidths are the widths in pixels at which pages are audited. At the others it is only looked
// whether they scroll sideways; a soak audits them there too.
var auditedWidths = []int64{390}

//go:build !soak

package pages

// auditedWidths are the widths in pixels at which pages are audited. At the others it is only looked
// whether they scroll sideways; a soak audits them there too.
var auditedWidths = []int64{390}

// auditsAll has every page audited, also those that were audited as they are. A soak does.
const auditsAll = false

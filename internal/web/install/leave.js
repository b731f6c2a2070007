// Leaves the admin's frame for a page that cannot be shown in one.
open(document.getElementById("leave").href, "_top");

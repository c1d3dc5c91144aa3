"""Server-side post-processing of reports: frequencies, label denoising, label proportions."""

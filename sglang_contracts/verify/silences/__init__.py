"""The reasons for which something found is not reported, or is reported softer."""

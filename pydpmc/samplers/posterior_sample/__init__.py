"""PosteriorSample: draws from a tempered posterior by hidden NUTS chains."""

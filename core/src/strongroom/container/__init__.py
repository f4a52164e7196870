"""All services of one process with its plugins: started and closed together."""

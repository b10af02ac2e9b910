"""The service: people, files and jobs of one house, behind a REST API.

`core.ServiceCore` is the one object that routes and web pages call; `app.create_app` puts it behind HTTP.
"""

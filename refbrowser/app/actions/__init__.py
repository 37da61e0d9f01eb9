"""Every action of the window, declared once: a module a menu; toolbar and shortcuts come from them too."""
